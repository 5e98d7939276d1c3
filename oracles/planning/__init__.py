"""Optimal values and policies: exact, closed forms, games, certified iteration."""
