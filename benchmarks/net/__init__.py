"""The net under a refactoring: every result of the suite as committed text, and a comparison with the present code."""
