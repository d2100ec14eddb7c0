"""What people say, understood by small models that were trained on labelled sentences."""
