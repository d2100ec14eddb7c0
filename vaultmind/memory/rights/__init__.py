"""Who may do what to whose memory, and who said so."""
