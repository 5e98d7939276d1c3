"""Compiled forms of the plain loops: the same arithmetic on the same stream, at the speed of the hardware.

Importing a module here imports numba but compiles nothing; a kernel compiles at its first call and is cached.
"""
