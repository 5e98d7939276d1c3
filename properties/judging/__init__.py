"""From a law and a variant to a verdict: search, blame, counterexamples, expected failures."""
