"""Thin tests: apply claims and laws, and test the verifier itself."""
