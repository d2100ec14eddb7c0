"""The learned ranker: a linear model over named features of what a search found."""
