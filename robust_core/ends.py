"""The end of an episode: what it means for a robust backup, stated once for learners, oracles and laws.

A transition may end its episode. Ending is an outcome beside the states, of value 0: nothing follows it. For a pair
(s,a) let e(s') be the probability that the transition to s' is the last one, and p† = Σ p(s') e(s') the mass of the
end. Theories differ in what nature may do with it; `options["ends"]` of a variant says which one it follows.

* "nature stays" (for contamination the default): the mass that nature moves goes to states only. She neither ends an
  episode nor is 0 among the values of which she takes the largest:

      contamination    sigma = (1−R) Σ p(s')(1−e(s')) V(s') + R max_s V(s)

  so on a terminal transition v' = 0 and the term gamma R max V stays. Under total variation she moves at most R, from
  states and from the end, to a state.
* "nature ends": ending is an outcome like any other. The set is that of the row
  (p(s')(1−e(s')), p†) on S + 1 outcomes with the values (V, 0):

      contamination    sigma = (1−R) Σ p(s')(1−e(s')) V(s') + R max(max_s V(s), 0)

  on every transition, terminal or not, for nature may end an episode anywhere. Where max V >= 0, as with costs that
  are never negative, this is the same as "nature stays" under contamination.
* "none" (for other sets the default): the variant is for problems without ends; no terminal transition is shown to it,
  and nothing is said of what it would do.

The state that a terminal transition names as s' is where a walk goes on; it has no influence on the update. A state
that is only ever entered by terminal transitions is a state like any other: nature may move there.
"""

from typing import Literal, get_args

from robust_core.sets import Contamination, UncertaintySet

Ends = Literal["nature stays", "nature ends", "none"]
ENDS: tuple[Ends, ...] = get_args(Ends)


def default_ends(uncertainty_set: type[UncertaintySet]) -> Ends:
    """The meaning of an end where a variant states none.

    >>> default_ends(Contamination)
    'nature stays'
    """
    return "nature stays" if issubclass(uncertainty_set, Contamination) else "none"
