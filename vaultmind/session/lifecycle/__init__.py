"""How a session begins, grows and ends, and what it leaves for the next one."""
