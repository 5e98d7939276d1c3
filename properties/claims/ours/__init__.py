"""Theorems of our own, as executable statements; the proofs are in docs/theorems.md."""
