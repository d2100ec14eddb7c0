"""What a person says to their memory and asks of it, in plain words: done, shown, answered."""
