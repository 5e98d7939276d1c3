"""Learners that only the experiments need."""
