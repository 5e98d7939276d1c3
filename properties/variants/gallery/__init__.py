"""Real variants, each in a small file, verified by the suite."""

# What a tabular learner with the update eq:Qupdate promises on every path.
PATHWISE = (
    "asynchronous",
    "fixed point",
    "non-expansive",
    "monotone",
    "shift",
    "scale",
    "symmetric",
    "bounded",
)
# What the theory of such a learner promises in law: stochastic approximation (Theorem 2) with a compiled fast path.
STATISTICAL = ("converges", "fast path")
