"""Markov chains: stationary laws, mixing."""
