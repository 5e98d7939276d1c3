"""Markov chains: stationary distributions, mixing."""
