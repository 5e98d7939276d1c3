"""Batches, experiments, speed and reports, and the command line."""
