"""What earlier work says of a task: tasks like it, what they used, how it is told."""
