"""Regression reports: what is measured, the committed baseline, and the comparison of the two."""
