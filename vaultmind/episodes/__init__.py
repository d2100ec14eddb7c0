"""Episodes: what agents did for a task, as notes, and the tables that are made of them."""
