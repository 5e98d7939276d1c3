"""Real algorithms that do not do what one might claim for them: their verdicts are negative, and rightly so."""
