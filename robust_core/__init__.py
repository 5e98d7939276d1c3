"""The minimal algorithm core: what is verified. Needs numpy; compiled kernels need numba."""
