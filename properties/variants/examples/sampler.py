"""One trajectory of a policy in a model; all randomness comes from the given rng."""

from robust_core import Transition, Variant


def sample(mdp, policy, start, steps, rng):
    path, s, a = [], start, rng.choice(mdp.n_actions, p=policy[start])
    for _ in range(steps):
        s_next = rng.choice(mdp.n_states, p=mdp.P[s, a])
        a_next = rng.choice(mdp.n_actions, p=policy[s_next])
        path.append(Transition(s, a, mdp.cost[s, a], s_next, a_next, False))
        s, a = s_next, a_next
    return path


VARIANT = Variant("my sampler", "sampler", sample, (), ("trajectory",))
