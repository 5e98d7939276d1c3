"""Wrong algorithms on purpose: each has a realistic bug that the suite must catch."""
