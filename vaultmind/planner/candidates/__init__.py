"""Which files may belong to a task: found by search, names, links and history."""
