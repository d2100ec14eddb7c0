"""What clients start and scripts call: pipe, hook, calls to the daemon. Standard library only."""
