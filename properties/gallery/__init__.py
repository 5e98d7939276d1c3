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
