"""How candidates rank: features, a linear scorer with its weights, a model's second look."""
