"""What a source is made of: a record a file, seven layers of the whole."""
