"""The claims, the generators of problems, and the verdicts."""
