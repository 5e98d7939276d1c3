"""The sentences of docs/experiments.md."""

HEAD = OUTCOMES = READINGS = TREND = VALUES = MONTE_CARLO = WHY = REPRODUCE = ""
