"""VaultMind written into clients' settings, theirs kept: servers, hooks, rules."""
