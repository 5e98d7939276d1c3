"""Benchmark instances of the literature on s-rectangular sets, built from their rules, and a lint for instances."""
