"""Whether a new fact contradicts an old one: subject and relation, not only words."""
