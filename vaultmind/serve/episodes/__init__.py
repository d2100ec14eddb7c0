"""What agents did: begun, told, ended, judged, counted, purged."""
