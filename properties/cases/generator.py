"""The generator: how a case of each kind is made of choices, small ones and large ones alike."""

import numpy as np

from properties.cases.case import EvaluationRun, LinearRun, OperatorCase, PlannerCase, Run, SamplerCase, SupportCase
from properties.cases.choices import FEATURES, MAX_STEPS, Choices
from robust_core.problem import Variant
from robust_core.validate import Floats

# A planner that iterates needs about 1/(1−gamma) sweeps for each digit: one horizon in thirteen is long, more would
# only cost time.
PLANNED_GAMMAS = (0.0, 0.5, 0.75, 0.875, 0.25, 0.9) * 2 + (0.99,)
SAMPLED_STEPS = 24


def support_case(choices: Choices, variant: Variant) -> SupportCase:
    """A row and values."""
    n, scale = choices.size("outcomes"), choices.scale()
    uncertainty_set = choices.uncertainty_set(variant)
    return SupportCase(uncertainty_set=uncertainty_set, p=choices.row(n, 0), v=scale * choices.values((n,)))


def operator_case(choices: Choices, variant: Variant) -> OperatorCase:
    """A model, a set and two tables."""
    scale = choices.scale()
    mdp = choices.mdp(scale=scale, sparse=True)
    return OperatorCase(
        mdp=mdp,
        uncertainty_set=choices.uncertainty_set(variant),
        Q=scale * choices.values(mdp.cost.shape),
        other=scale * choices.values(mdp.cost.shape),
    )


def planner_case(choices: Choices, variant: Variant) -> PlannerCase:
    """A model and a set."""
    mdp = choices.mdp(scale=choices.scale(), gammas=PLANNED_GAMMAS, sparse=True)
    return PlannerCase(mdp=mdp, uncertainty_set=choices.uncertainty_set(variant))


def sampler_case(choices: Choices, variant: Variant) -> SamplerCase:
    """A model, a policy, a start and a number of steps."""
    steps, times = choices.length(SAMPLED_STEPS, (1,))
    mdp = choices.mdp(sparse=True)
    start = choices.index(mdp.n_states)
    return SamplerCase(mdp=mdp, policy=choices.policy(mdp), start=start, steps=steps * times)


def run(
    choices: Choices,
    variant: Variant,
    *,
    steps: int = MAX_STEPS,
    ends: bool = False,
    deterministic: bool = False,
    projected: bool = True,
    repeats: tuple[int, ...] = (1,),
) -> Run:
    """A problem for a learner and a path of at most `steps` steps in it, the whole walked once or more often.

    With `ends` some steps end an episode; without `projected` there is no ball of projection.
    """
    length, times = choices.length(steps, repeats)
    scale = choices.scale()
    mdp = choices.mdp(scale=scale, deterministic=deterministic)
    uncertainty_set = choices.uncertainty_set(variant)
    linear = variant.kind == "linear evaluation"
    step_size = choices.step_size(visits=not linear)
    policy = None if variant.kind == "control" else choices.policy(mdp, deterministic=deterministic)
    if policy is not None and linear:
        N = choices.size("features")
        K = choices.projection() if projected else None
        features = choices.array((mdp.n_states, N), FEATURES)
        theta = choices.values((N,))
        return LinearRun(
            mdp=mdp,
            uncertainty_set=uncertainty_set,
            step_size=step_size,
            initial=theta if K is None else inside(theta, K),
            policy=policy,
            features=features,
            smoothing=choices.smoothing(variant),
            second_step_size=choices.step_size(visits=False),
            projection=K,
            path=choices.path(mdp, steps=length, policy=policy, ends=ends) * times,
        )
    shape = mdp.cost.shape if estimates(variant) == "Q" else mdp.cost.shape[:1]
    initial = np.zeros(shape) if choices.blank() else scale * choices.values(shape)
    path = choices.path(mdp, steps=length, policy=policy, ends=ends) * times
    if policy is None:
        return Run(mdp=mdp, uncertainty_set=uncertainty_set, step_size=step_size, initial=initial, path=path)
    return EvaluationRun(
        mdp=mdp, uncertainty_set=uncertainty_set, step_size=step_size, initial=initial, policy=policy, path=path
    )


def estimates(variant: Variant) -> str:
    """What a tabular learner's table holds: 'Q' for control; for evaluation options['estimates'], by default 'V'."""
    return "Q" if variant.kind == "control" else str(variant.options.get("estimates", "V"))


def inside(theta: Floats, K: float) -> Floats:
    """theta halved until it is well inside the ball of radius K: a projection must leave its bits alone."""
    while np.linalg.norm(theta) > 0.75 * K:
        theta = theta / 2.0
    return theta
