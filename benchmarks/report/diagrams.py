"""A small model drawn: states as circles, actions as squares with their cost, transitions as arrows.

States stand on a circle; the actions of a state fan out around it, away from the middle, and an arrow leads from each
action to every state it can reach, thicker for a larger probability.
"""

import math
from dataclasses import dataclass

from benchmarks.report.markup import Html, tag
from benchmarks.report.scales import number
from robust_core.mdp import MDP

MOST_STATES, MOST_PAIRS = 5, 10
"""What still can be read; larger models are shown as tables alone."""
STATE, ACTION = 17.0, 6.0
"""Radius of a state, half the side of an action."""
ARM = 52.0
"""From a state to its actions."""
MARGIN_X, MARGIN_Y = 64.0, 40.0

LOOP, BEND = 34.0, 0.22
"""How far an arrow bends: back to its own state, and as a share of its length."""
BESIDE = 0.5
"""From this on a label stands beside its square, not above or below it."""

Place = tuple[float, float]
Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Model:
    """A small model: P[s][a][s'], cost[s][a] and the discount."""

    P: tuple[Matrix, ...]
    cost: Matrix
    gamma: float

    @classmethod
    def of(cls, mdp: MDP) -> "Model | None":
        """The model, if it is small enough to be drawn."""
        if mdp.n_states > MOST_STATES or mdp.n_states * mdp.n_actions > MOST_PAIRS:
            return None
        kernel = tuple(tuple(map(tuple, rows)) for rows in mdp.P.tolist())
        return cls(kernel, tuple(map(tuple, mdp.cost.tolist())), mdp.gamma)


def draw(model: Model, title: str) -> Html:
    """The model as an SVG picture."""
    states = _state_places(len(model.cost))
    actions = _action_places(model, states)
    arrows, notes = [], []
    for (s, a), place in actions.items():
        arrows.append(_link(states[s], place))
        for target, p in enumerate(model.P[s][a]):
            if p > 0:
                arrow, note = _arrow(place, states[target], p, own=target == s)
                arrows.append(arrow)
                notes.append(note)
    circles = [_circle(place, s) for s, place in enumerate(states)]
    squares = [_square(place, states[s], a, model.cost[s][a]) for (s, a), place in actions.items()]
    everywhere = [*states, *actions.values()]
    left, top = (min(place[i] for place in everywhere) - margin for i, margin in enumerate((MARGIN_X, MARGIN_Y)))
    right, bottom = (max(place[i] for place in everywhere) + margin for i, margin in enumerate((MARGIN_X, MARGIN_Y)))
    width, height = right - left, bottom - top
    return tag(
        "svg",
        tag("title", title),
        *arrows,
        *circles,
        *squares,
        *notes,
        class_="model",
        viewBox=f"{left:g} {top:g} {width:g} {height:g}",
        width=f"{width:g}",
        role="img",
        aria_label=f"{title}: {words(model)}",
    )


def words(model: Model) -> str:
    """The model in words, for who cannot see it.

    >>> words(Model(P=(((1.0,),),), cost=((2.0,),), gamma=0.5))
    'state 0, action 0, cost 2: to 0 with 1'
    """
    parts = []
    for s, rows in enumerate(model.P):
        for a, row in enumerate(rows):
            targets = ", ".join(f"to {t} with {number(p)}" for t, p in enumerate(row) if p > 0)
            parts.append(f"state {s}, action {a}, cost {number(model.cost[s][a])}: {targets}")
    return "; ".join(parts)


def _state_places(count: int) -> list[Place]:
    if count == 1:
        return [(0.0, 0.0)]
    radius = 62.0 if count == 2 else 46.0 + 22.0 * count
    start = math.pi if count == 2 else -math.pi / 2
    turns = (start + 2 * math.pi * s / count for s in range(count))
    return [(radius * math.cos(turn), radius * math.sin(turn)) for turn in turns]


def _action_places(model: Model, states: list[Place]) -> dict[tuple[int, int], Place]:
    """Around each state, away from the middle of the picture."""
    found = {}
    for s, (x, y) in enumerate(states):
        count = len(model.cost[s])
        outward = math.atan2(y, x) if len(states) > 1 else -math.pi / 2
        fan = math.pi if len(states) == 1 else math.pi * 0.55
        for a in range(count):
            turn = outward + (fan * (a - (count - 1) / 2) / max(count - 1, 1) if count > 1 else 0.0)
            found[s, a] = (x + ARM * math.cos(turn), y + ARM * math.sin(turn))
    return found


def _towards(start: Place, end: Place, length: float) -> Place:
    """The point at this distance from the start."""
    distance = math.dist(start, end) or 1.0
    return tuple(a + (b - a) * length / distance for a, b in zip(start, end, strict=True))  # type: ignore[return-value]


def _link(state: Place, action: Place) -> Html:
    start, stop = _towards(state, action, STATE), _towards(action, state, ACTION)
    return tag("path", class_="link", d=f"M{start[0]:.1f},{start[1]:.1f}L{stop[0]:.1f},{stop[1]:.1f}")


def _arrow(action: Place, target: Place, p: float, *, own: bool) -> tuple[Html, Html]:
    """A bent arrow from an action to a state, and its probability."""
    middle = ((action[0] + target[0]) / 2, (action[1] + target[1]) / 2)
    bend = LOOP if own else BEND * math.dist(action, target)
    side = _side(action, target)
    control = (middle[0] + bend * side[0], middle[1] + bend * side[1])
    start, stop = _towards(action, control, ACTION + 1), _towards(target, control, STATE + 2)
    width = 0.8 + 1.6 * p
    curve = f"M{start[0]:.1f},{start[1]:.1f}Q{control[0]:.1f},{control[1]:.1f} {stop[0]:.1f},{stop[1]:.1f}"
    line = tag("path", class_="arrow", d=curve, stroke_width=f"{width:.2f}")
    at = tuple(a / 4 + c / 2 + b / 4 for a, c, b in zip(start, control, stop, strict=True))
    at = (at[0] + 9 * side[0], at[1] + 9 * side[1] + 3.5)
    note = tag("text", number(p, 3), class_="halo", x=f"{at[0]:.1f}", y=f"{at[1]:.1f}", text_anchor="middle")
    return Html(line + _head(control, stop)), note


def _head(control: Place, tip: Place) -> Html:
    angle = math.atan2(tip[1] - control[1], tip[0] - control[0])
    wings = [(tip[0] - 7 * math.cos(angle + turn), tip[1] - 7 * math.sin(angle + turn)) for turn in (0.42, -0.42)]
    corners = "".join(f"L{x:.1f},{y:.1f}" for x, y in wings)
    return tag("path", class_="head", d=f"M{tip[0]:.1f},{tip[1]:.1f}{corners}Z")


def _circle(place: Place, s: int) -> Html:
    circle = tag("circle", class_="state", cx=f"{place[0]:.1f}", cy=f"{place[1]:.1f}", r=STATE)
    return Html(circle + tag("text", str(s), x=f"{place[0]:.1f}", y=f"{place[1] + 4.5:.1f}", text_anchor="middle"))


def _square(place: Place, state: Place, a: int, cost: float) -> Html:
    corner = (place[0] - ACTION, place[1] - ACTION)
    square = tag(
        "rect", class_="action", x=f"{corner[0]:.1f}", y=f"{corner[1]:.1f}", width=2 * ACTION, height=2 * ACTION
    )
    # On the side from which no arrow of this action leaves.
    side = _side(place, state)
    at = (place[0] - (ACTION + 6) * side[0], place[1] - (ACTION + 9) * side[1] + 3.5)
    anchor = "middle" if abs(side[0]) < BESIDE else "start" if side[0] < 0 else "end"
    words = f"a{a}, c={number(cost, 3)}"
    label = tag("text", words, class_="halo", x=f"{at[0]:.1f}", y=f"{at[1]:.1f}", text_anchor=anchor)
    return Html(square + label)


def _side(start: Place, end: Place) -> Place:
    """The unit vector to which arrows from here to there bend."""
    distance = math.dist(start, end) or 1.0
    return (start[1] - end[1]) / distance, (end[0] - start[0]) / distance
