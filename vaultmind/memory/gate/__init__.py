"""The one gate through which every change of memory goes."""
