"""Learners of the optimal average cost: relative Q-learning, without a discount and without ends of episodes."""

from properties.cases.choices import Choices
from properties.cases.runs import LEARNER, USUAL, Beginning, Run, RunOptions, schedule
from properties.kinds import Canary, Example, KindOfVariant
from properties.kinds.average_cost_planner import positive_set
from robust_core.problem import Variant


def average_run(choices: Choices, variant: Variant, options: RunOptions = USUAL) -> Run:
    """A problem, whose discount means nothing, with a positive radius, and a path of any actions."""
    begin = Beginning.choose(choices, variant, options)
    return Run(
        mdp=begin.mdp,
        uncertainty_set=positive_set(choices, variant, type(begin.uncertainty_set), begin.mdp),
        step_size=schedule(choices, variant),
        initial=begin.table(choices, variant),
        path=begin.path(choices, None),
    )


KIND = KindOfVariant(
    case=Run,
    generate=average_run,
    promises={
        "relative update": "given the past and the pair, the mean of the visited entry is Q + alpha (c + sigma(V) − f −"
        " Q), V = min_a Q, without a discount, and the others stay; f, the estimate of the gain, is"
        " options['reference'], a function of a view (default: the entry of state 0 and action 0)",
        "relative fixed point": "started at the solution of a deterministic problem, plus the constant at which f is"
        " the gain, it stays there",
        "relative shift": "costs and a start that are k higher give estimates that are k higher (f must rise by k with"
        " the table)",
    },
    canary=Canary("average_cost_learner:VANILLA", ("relative update", "relative update, deterministic")),
    example=Example(
        called=f"{LEARNER}; the estimate is Q[s, a]; `problem.gamma` has no meaning, and no step ends an episode",
        right="R * V.max()",
        wrong="R * V.mean()",
    ),
    learner=True,
    learning=("relative update",),
    episodes=False,
)
