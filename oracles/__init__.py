"""Ground truth from the model, every value with a certified error bound."""
