"""Real variants, each in a small file, verified by the suite."""
