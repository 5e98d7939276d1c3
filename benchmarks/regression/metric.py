"""What is measured: every metric with its unit, its direction and the margin within which two values are equivalent."""

from dataclasses import dataclass
from typing import Literal

Direction = Literal["lower", "higher", "exact"]
Kind = Literal["deterministic", "statistical", "share", "ratio"]
Scale = Literal["relative", "absolute"]


@dataclass(frozen=True)
class Metric:
    """A quantity that is compared with the baseline.

    `direction` says which way is better; *exact* is for what must not change. `kind` says how it is compared:
    deterministic quantities bit by bit, statistical ones seed by seed, shares of runs by the seeds in which one side
    counts and the other does not, ratios of times repeat by repeat. Differences
    of *relative* scale are ratios today/baseline − 1, for positive quantities. Below `margin` a difference is of no
    consequence; `why` is its reason. `portable` is false for bits that may differ from one kind of processor to
    another.
    """

    name: str
    unit: str
    direction: Direction
    kind: Kind
    text: str
    scale: Scale = "absolute"
    margin: float = 0.0
    why: str = ""
    portable: bool = True

    def __post_init__(self) -> None:
        if (self.margin > 0.0) != (self.kind != "deterministic"):
            raise ValueError(
                f"metric {self.name!r}: statistical metrics and ratios have a margin, exact ones have none"
            )


ONE_TENTH = "a tenth of an error costs a fifth more samples, since errors fall like 1/√T"
HALF_PERCENT = "a choice: half a percent of the values, below the errors of one percent that are learned"
MACHINES = "medians of the same code differed by up to 27 % between five occasions on a busy machine"

_METRICS = (
    Metric("Q*", "hash", "exact", "deterministic", "a hash of the optimal robust values in exact rationals"),
    Metric("worst value", "cost", "exact", "deterministic", "max V* under the set, rounded from a rational"),
    Metric("optimal actions", "actions", "exact", "deterministic", "every optimal action of every state"),
    Metric("mixing time", "steps", "exact", "deterministic", "t_mix of the state-action chain"),
    Metric("mu_min", "1", "exact", "deterministic", "the stationary probability of the rarest pair, as a fraction"),
    Metric("T of Theorem 3", "steps", "exact", "deterministic", "the horizon of the explicit Theorem 3"),
    Metric("alpha of Theorem 3", "1", "exact", "deterministic", "the step size of the explicit Theorem 3"),
    Metric("value iteration", "sweeps", "exact", "deterministic", "sweeps of the robust operator to a width of 2^-20"),
    Metric("table", "hash", "exact", "deterministic", "the bits of the tables that are learned from pinned seeds"),
    Metric(
        "parameters", "hash", "exact", "deterministic",
        "the bits of theta and omega from pinned seeds, on the same kind of processor", portable=False,
    ),
    Metric(
        "first error", "cost", "lower", "statistical", "‖Q_T − Q*‖ when some pairs have not been visited yet",
        "relative", 0.1, ONE_TENTH,
    ),
    Metric("middle error", "cost", "lower", "statistical", "‖Q_T − Q*‖ half way", "relative", 0.1, ONE_TENTH),
    Metric("last error", "cost", "lower", "statistical", "‖Q_T − Q*‖ at the end", "relative", 0.1, ONE_TENTH),
    Metric(
        "area", "cost", "lower", "statistical", "the mean error over the powers of two up to the end",
        "relative", 0.1, ONE_TENTH,
    ),
    Metric(
        "time to epsilon", "steps", "lower", "statistical", "steps until ‖Q_T − Q*‖ <= epsilon for the first time",
        "relative", 0.25, "times are seen on a grid whose steps are 19 %, powers of 2^(1/4)",
    ),
    Metric(
        "bias", "‖Q*‖", "exact", "statistical", "the mean entry of Q_T − Q* (theta_T − theta*) in units of ‖Q*‖",
        "absolute", 0.005, HALF_PERCENT,
    ),
    Metric(
        "spread", "cost", "lower", "statistical", "‖Q_T − Q'_T‖ of two independent runs from Q*: the noise of the step",
        "relative", 0.1, ONE_TENTH,
    ),
    Metric(
        "noise", "variance", "exact", "statistical", "squared steps from Q*, divided by their expected value",
        "relative", 0.1, "the variance of the step is known from the model: neither more nor less is right",
    ),
    Metric(
        "regret", "‖Q*‖", "lower", "statistical", "the robust value of the greedy policy half way, above the optimum",
        "absolute", 0.005, HALF_PERCENT,
    ),
    Metric(
        "nominal value", "‖Q*‖", "exact", "statistical", "the value of the greedy policy half way, without adversary",
        "absolute", 0.005, HALF_PERCENT,
    ),
    Metric(
        "gradient", "share", "lower", "statistical", "‖∇J(theta_T)‖²/‖∇J(theta_0)‖² at the end",
        "relative", 0.25, "squares of errors: a tenth of an error is a fifth of its square",
    ),
    Metric(
        "tracking error", "cost²", "lower", "statistical", "‖omega_T − omega(theta_T)‖² at the end",
        "relative", 0.25, "squares of errors: a tenth of an error is a fifth of its square",
    ),
    Metric(
        "time ratio", "times", "lower", "ratio", "our processor time in units of the contestant's",
        "relative", 0.3, MACHINES,
    ),
    Metric(
        "speed-up", "times", "higher", "ratio", "the contestant's processor time in units of ours",
        "relative", 0.3, MACHINES,
    ),
)  # fmt: skip
METRICS = {metric.name: metric for metric in _METRICS}
