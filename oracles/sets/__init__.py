"""Support functions by convex programs, vertices, duals and base polytopes."""
