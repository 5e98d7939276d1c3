"""`robust-core certify` and `robust-core check`: a certificate of robust values, and its independent checker."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.cli.conventions import HOLDS, VIOLATED, Commands, add_json, add_quiet, dumps, require_writable

if TYPE_CHECKING:
    from robust_core.mdp import MDP
    from robust_core.sets import UncertaintySet

LARGEST_MODEL = 1 << 27
"""Bytes of a model in JSON."""
LARGEST_ARRAYS = 1 << 29
"""Bytes of the arrays of a model: more than twice those of the largest one that is certified."""
BY_RADIUS = (
    "contamination", "total_variation", "l1", "l_infinity", "l2", "bounded_density", "chi_square", "kullback_leibler",
    "reverse_kullback_leibler", "s_rectangular_l1", "s_rectangular_l2", "s_rectangular_l_infinity",
    "s_rectangular_kullback_leibler",
)  # fmt: skip
SPELLINGS = (
    f"NAME:RADIUS with NAME {', '.join(BY_RADIUS)}, or interval for nominal ± radius; or a JSON file; or model, the "
    "intervals of a .tra file"
)
OF_MODEL = "model"
WITHIN, WITH_SUPPORT = "within-support", (
    "l1", "l2", "l_infinity", "reverse_kullback_leibler", "s_rectangular_l1", "s_rectangular_l2",
    "s_rectangular_l_infinity",
)  # fmt: skip


def add_parser(commands: Commands) -> None:
    """The commands and their options."""
    certify = commands.add_parser(
        "certify",
        help="solve a robust MDP and write a certificate of its values",
        description="Solves a robust MDP and writes lower and upper bounds of its optimal values together with a "
        "proof: a policy, a worst kernel and multipliers. `robust-core check` verifies the file without trusting this "
        "program. MODEL is a JSON file (`MDP.to_json`), an npz file (`robust_core.arrays`), a .tra file of PRISM with "
        "its rewards (read as costs) in the same folder, or the name of a Gymnasium environment with a transition "
        "table, whose rewards become costs.",
        epilog="example: robust-core certify FrozenLake-v1 --gamma 0.95 --set total_variation:0.1",
    )
    certify.add_argument("model", metavar="MODEL", help="a .json, .npz or .tra file, or the name of an environment")
    certify.add_argument("--set", required=True, metavar="SET", help=f"{SPELLINGS}; l1:R:{WITHIN} keeps the support")
    certify.add_argument(
        "--gamma", type=float, metavar="G", help="the discount, if the model file does not contain one"
    )
    certify.add_argument(
        "--width", type=float, default=1e-6, metavar="W", help="largest allowed upper − lower (default 1e-6)"
    )
    certify.add_argument("--output", type=Path, default=Path("certificate.json"), metavar="FILE",
                         help="where the certificate is written (default certificate.json)")  # fmt: skip
    add_json(certify, "the file, the number of states and the width")
    add_quiet(certify, "print nothing")
    certify.set_defaults(run=_certify)
    check = commands.add_parser(
        "check",
        help="verify a certificate with an independent checker",
        description="Verifies a certificate in exact fractions and says what it proves, or which inequality fails in "
        "which state and action (exit code 1). The checker is one file of the standard library, "
        "robust_core/certificates/checker.py; `python checker.py CERTIFICATE` does the same.",
        epilog="example: robust-core check certificate.json",
    )
    check.add_argument("certificate", type=Path, metavar="CERTIFICATE", help="a file that `robust-core certify` wrote")
    check.add_argument("--about", metavar="MODEL", help="also require that the certificate is about this model")
    add_json(check, "the verdict and the reason")
    add_quiet(check, "print only why a certificate is rejected")
    check.set_defaults(run=_check)


def _certify(options: argparse.Namespace) -> int:
    from robust_core.certificates.writer import certify

    require_writable("--output", options.output)
    mdp = read_model(options.model, options.gamma)
    found = certify(mdp, read_set(options.set, mdp, options.model), width=options.width)
    options.output.write_text(found.to_json() + "\n", encoding="utf-8")
    if options.json:
        print(dumps({"file": str(options.output), "states": mdp.n_states, "width": found.width}))
    elif not options.quiet:
        print(f"{options.output}: {mdp.n_states} states, lower <= V* <= upper, width {found.width:.2g}")
    return HOLDS


def _check(options: argparse.Namespace) -> int:
    from robust_core import json
    from robust_core.certificates import checker

    with json.blame_on(options.certificate), json.open_regular(options.certificate) as file:
        text = file.read(checker.LARGEST_FILE + 1)
    accepted, line = checker.verdict(text)
    if accepted and options.about is not None and (reason := _other_model(text, options.about)):
        accepted, line = False, f"rejected: {reason}"
    if options.json:
        print(dumps({"accepted": accepted, "reason": line}))
    elif not (accepted and options.quiet):
        print(line)
    return HOLDS if accepted else VIOLATED


def _other_model(text: bytes, name: str) -> str | None:
    """That an accepted certificate is about another model than the one with this name."""
    from robust_core import json
    from robust_core.mdp import MDP, SparseRows

    data = json.loads(text.decode("utf-8"))
    mdp = read_model(name, data["gamma"])
    theirs = MDP(SparseRows(**data["kernel"]), data["cost"], data["gamma"])
    return None if theirs.hash == mdp.hash else f"the certificate is about {theirs!r}, not {name}, {mdp!r}"


def read_model(name: str, gamma: float | None) -> "MDP":
    """The model in a file, or of an environment, with this discount; None takes that of the file."""
    from robust_core import json
    from robust_core.arrays import read_npz
    from robust_core.mdp import MDP
    from robust_core.prism import read_prism

    path = Path(name)
    if path.suffix == ".json":
        data = json.load(path, largest=LARGEST_MODEL)
        with json.blame_on(path):
            return MDP.from_dict(data if gamma is None or not isinstance(data, dict) else data | {"gamma": gamma})
    if path.suffix == ".npz":
        return read_npz(path, gamma, largest=LARGEST_ARRAYS)
    if gamma is None:
        raise ValueError(
            f"--gamma must be given: {name} has no discount; only .json and .npz files can have one (MODEL may also be "
            "a .tra file or a Gymnasium environment)"
        )
    return read_prism(path, gamma).mdp if path.suffix == ".tra" else _from_gymnasium(name, gamma)


def _from_gymnasium(name: str, gamma: float) -> "MDP":
    from robust_core.environments import from_toy_text

    try:
        import gymnasium
    except ImportError:
        raise ImportError(f"MODEL {name} needs gymnasium: pip install 'robust-core[environments]'") from None
    try:
        made = gymnasium.make(name).unwrapped
    except gymnasium.error.Error as error:
        raise ValueError(
            f"MODEL must be a .json, .npz or .tra file or a Gymnasium environment, got {name}: {error}"
        ) from None
    if not hasattr(made, "P"):
        raise ValueError(f"MODEL {name} must have a table of transitions, like FrozenLake-v1 and CliffWalking-v1")
    table, start = made.P, made.initial_state_distrib
    return from_toy_text(name, table, start, gamma=gamma, interpretation="continuing").mdp


def read_set(text: str, mdp: "MDP", model: str = "") -> "UncertaintySet":
    """The set of `NAME:RADIUS`, of a JSON file as `UncertaintySet.to_dict` writes it, or of the model itself."""
    from robust_core import json
    from robust_core.prism import read_prism
    from robust_core.sets import Interval, UncertaintySet

    if text.endswith(".json"):
        data = json.load(Path(text), largest=LARGEST_MODEL)
        with json.blame_on(text):
            return UncertaintySet.from_dict(data)
    if text == OF_MODEL:
        found = read_prism(Path(model), mdp.gamma).intervals if model.endswith(".tra") else None
        if found is None:
            raise ValueError(f"--set {OF_MODEL} must come with a .tra file that has intervals, got {model}")
        return found
    kind, _, rest = text.partition(":")
    amount, _, within = rest.partition(":")
    try:
        radius = float(amount)
    except ValueError:
        raise ValueError(f"--set must be {SPELLINGS}, got {text}") from None
    if kind == "interval" and not within:
        return Interval.around(mdp.P, radius)
    bounded = {"within_support": within == WITHIN} if kind in WITH_SUPPORT else {}
    if kind not in BY_RADIUS or within not in (("", WITHIN) if bounded else ("",)):
        raise ValueError(f"--set must be {SPELLINGS}, got {text}")
    return UncertaintySet.from_dict({"kind": kind, "radius": radius} | bounded)
