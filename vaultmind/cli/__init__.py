"""The command line: `main` names the commands, the rooms hold them by subject."""
