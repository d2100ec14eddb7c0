"""Language models that work for the memory, each where it cannot hurt it."""
