"""Exact numbers, balls, enclosures: values with a certified error."""
