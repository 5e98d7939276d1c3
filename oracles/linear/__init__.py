"""The objective J of linear evaluation, its gradient and its stationary points."""
