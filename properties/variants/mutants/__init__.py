"""Wrong algorithms on purpose: each is a realistic slip that the suite must catch."""
