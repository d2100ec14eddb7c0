"""The log of every change: its lines, its chain, the way back."""
