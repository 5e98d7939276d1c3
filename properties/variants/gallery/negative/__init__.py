"""Real algorithms that do not do what one might promise for them: their verdicts are negative, and rightly so."""
