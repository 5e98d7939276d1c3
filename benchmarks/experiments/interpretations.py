"""What the paper leaves open about its experiments, as named interpretations.

The default interpretation was fixed before any panel was run: Gym's models and its practice of episodes (a terminal
state is worth nothing and a reset follows), the formal model of Section 2 elsewhere, and sizes by a rule that is the
same for all panels. Rewards are among what follows the formal model: a step costs c(s,a), the expectation, where Gym
pays what the step it made has earned (`gym-reward`). Every other interpretation changes one choice.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

Figure = Literal["frozenlake", "cartpole", "taxi", "tdc", "rarl"]
FIGURES: tuple[Figure, ...] = ("frozenlake", "cartpole", "taxi", "tdc", "rarl")
CONTROL: tuple[Figure, ...] = ("frozenlake", "cartpole", "taxi")

Terminal = Literal["episodic", "continuing", "restart"]


@dataclass(frozen=True, kw_only=True)
class Interpretation:
    """One choice for everything that is not printed; `figures` are those for which the choice matters.

    `terminal`: episodic (value 0, then a reset), continuing (absorbing at no cost, left by perturbation only), restart
    (an ordinary state whose every action leads to the start).
    `reward`: pair (the expected reward of the pair, jump or not), landing (that of the state where the step ends),
    gym (see `gym-reward`).
    `start` of CartPole: the cell of (0, 0, 0, 0), or drawn.
    `visits` is the number of steps divided by the number of pairs (of states for TDC).
    """

    name: str
    what: str
    figures: tuple[Figure, ...]
    slippery: bool = True
    terminal: Terminal = "episodic"
    reward: Literal["pair", "landing", "gym"] = "pair"
    initial: Literal["zero", "random"] = "zero"
    ties: Literal["first", "last"] = "first"
    worst: Literal["all", "inner"] = "all"
    bins: tuple[int, int, int, int] = (3, 3, 6, 6)
    start: Literal["cell", "drawn"] = "cell"
    dynamics: Literal["cells", "real"] = "cells"
    visits: int = 200
    tdc_terminal: Literal["restart", "episodic"] = "restart"
    tdc_visits: int = 1_000
    sign: Literal["cost", "reward", "reward as cost"] = "cost"
    varrho: float = 10.0
    features: int | None = 0
    gradient: Literal["robust", "own", "vanilla"] = "robust"
    projection: float = math.inf
    step_scale: float = 1.0
    adversary: Literal["learned", "exact"] = "learned"
    adversary_steps: int = 1
    training: Literal["unperturbed", "perturbed"] = "unperturbed"
    samples: Literal["agent", "total"] = "agent"
    test_state: Literal["own", "policy"] = "own"


DEFAULT = Interpretation(
    name="default",
    what=(
        "FrozenLake slippery; terminal states have value 0 and are followed by a reset; every step, perturbed or not,"
        " costs c(s,a), the expectation over the unperturbed step; Q₀ = 0; the first of equal actions; the worst "
        "state ranges over all states; CartPole in 3×3×6×6 cells, started in the cell of (0, 0, 0, 0), nothing paid "
        "for the step that falls; 200 steps per pair. TDC: terminal states lead to the start, varrho = 10, one draw "
        "of the features, no projection, ‖∇J‖² with the robust J for both, 1000 steps per state. RARL: 25 iterations,"
        " as many steps of the adversary as of the agent, uniform behaviour in both; robust Q-learning trains on the "
        "unperturbed MDP; the test moves to the worst state of the learner's own table"
    ),
    figures=FIGURES,
)


def _other(name: str, what: str, figures: tuple[Figure, ...], **change: object) -> Interpretation:
    return replace(DEFAULT, name=name, what=what, figures=figures, **change)  # type: ignore[arg-type]


OTHERS: tuple[Interpretation, ...] = (
    _other("not-slippery", "FrozenLake moves as told", ("frozenlake", "tdc"), slippery=False),
    _other(
        "continuing",
        "terminal states are absorbing at no cost (the formal model); perturbation alone leaves them",
        CONTROL,
        terminal="continuing",
    ),
    _other("restart", "terminal states are ordinary states that lead to the start", CONTROL, terminal="restart"),
    _other(
        "landing-reward",
        "a step is paid by the state it ends in, perturbed or not",
        ("frozenlake", "cartpole"),
        reward="landing",
    ),
    _other(
        "gym-reward",
        "rewards as Gym's loop gives them: env.step(a) moves and pays, then with probability p its state, not its "
        "reward, is replaced by a uniform one (FrozenLake); CartPole pays 1 for the step that falls, too. Taxi pays "
        "by (s,a) alone: there it is the default",
        ("frozenlake", "cartpole", "tdc"),
        reward="gym",
    ),
    _other("random-initial", "Q₀ drawn from (0, 1), as rewards", CONTROL, initial="random"),
    _other("last-tie", "the last of equal actions", CONTROL, ties="last"),
    _other("inner-worst", "the worst state is not a terminal one", CONTROL, worst="inner"),
    _other("short", "20 steps per pair", CONTROL, visits=20),
    _other("long", "2000 steps per pair", ("frozenlake",), visits=2_000),
    _other("tutorial-bins", "CartPole in 1×1×6×12 cells", ("cartpole",), bins=(1, 1, 6, 12)),
    _other("fine-bins", "CartPole in 4×4×8×8 cells", ("cartpole",), bins=(4, 4, 8, 8)),
    _other(
        "drawn-start",
        "CartPole starts at a point drawn as Gym draws it, all coordinates within ±0.05: one of four cells",
        ("cartpole",),
        start="drawn",
    ),
    _other(
        "real-dynamics",
        "the cart and the pole move by their own equations in training and test; only the learners see cells",
        ("cartpole",),
        dynamics="real",
    ),
    _other(
        "own-gradient",
        "‖∇J‖² with each learner's own J: robust for robust, R = 0 for vanilla",
        ("tdc",),
        gradient="own",
    ),
    _other("vanilla-gradient", "‖∇J‖² with R = 0 for both", ("tdc",), gradient="vanilla"),
    _other("fresh-features", "features drawn anew for every run", ("tdc",), features=None),
    _other("second-features", "a second draw of the features", ("tdc",), features=1),
    _other("third-features", "a third draw of the features", ("tdc",), features=2),
    _other("varrho-1", "varrho = 1", ("tdc",), varrho=1.0),
    _other("varrho-100", "varrho = 100", ("tdc",), varrho=100.0),
    _other("projected", "theta and omega are projected onto the ball of radius 10", ("tdc",), projection=10.0),
    _other("tdc-episodic", "terminal states have value 0 (their features are 0)", ("tdc",), tdc_terminal="episodic"),
    _other("tdc-short", "100 steps per state", ("tdc",), tdc_visits=100),
    _other(
        "small-steps",
        "alpha and beta a thirtieth of the printed ones, ten times the steps (a diagnosis: the steps are printed)",
        ("tdc",),
        step_scale=1 / 30,
        tdc_visits=10_000,
    ),
    _other("reward-start", "theta₀ = (1, …, 1) are rewards: V starts at −Σφ in costs", ("tdc",), sign="reward"),
    _other("reward-as-cost", "the reward is put where Algorithm 2 has the cost", ("tdc",), sign="reward as cost"),
    _other(
        "tdc-episodic-own",
        "tdc-episodic and own-gradient together",
        ("tdc",),
        tdc_terminal="episodic",
        gradient="own",
    ),
    _other("strong-adversary", "ten times as many steps of the adversary", ("rarl",), adversary_steps=10),
    _other("exact-adversary", "the adversary plays the exact best response to the agent", ("rarl",), adversary="exact"),
    _other("perturbed-training", "robust Q-learning trains on the perturbed MDP", ("rarl",), training="perturbed"),
    _other("equal-samples", "robust Q-learning gets the adversary's samples too", ("rarl",), samples="total"),
    _other(
        "policy-worst",
        "the test moves to the state that is worst for the tested policy",
        ("rarl",),
        test_state="policy",
    ),
)

INTERPRETATIONS: dict[str, Interpretation] = {
    interpretation.name: interpretation for interpretation in (DEFAULT, *OTHERS)
}


def of_figure(figure: Figure) -> tuple[Interpretation, ...]:
    """The interpretations that matter for a figure, the default first.

    >>> [interpretation.name for interpretation in of_figure("rarl")][:2]
    ['default', 'strong-adversary']
    """
    return tuple(interpretation for interpretation in INTERPRETATIONS.values() if figure in interpretation.figures)
