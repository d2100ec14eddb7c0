"""What is indexed of a file, by what it is: cut into chunks, and read again as it is shown."""
