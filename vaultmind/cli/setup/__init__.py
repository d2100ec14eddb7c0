"""Commands on a vault and its processes: demo, init, checks, index, daemon, pipe, hook."""
