"""What every call is made of: who calls, arguments, schemas, fences, lines, errors."""
