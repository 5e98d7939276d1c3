"""Variants that come with the suite: the gallery, an example per kind, the mutants."""
