"""`robust-core study constants`, `scaling`, `effects`, `growth`, `bounds`, `controls`: a few minutes each."""

import argparse
import importlib
from pathlib import Path

from benchmarks.cli.conventions import HOLDS, Commands, add_json, add_quiet, output_of, write_record

BASELINES = Path(__file__).parents[1] / "baselines"
STUDIES = {
    "constants": "the smallest constant c_0 of Theorem 3 that holds on a named family, for several c_1",
    "scaling": "how the error and the horizon of Theorem 3 scale in 1-gamma, mu_min and t_mix",
    "effects": "rates, ratios and errors of the right algorithms at full size, with intervals",
    "growth": "how TDC grows for large theta, for draws of the features of Figure 3, beside runs that diverge",
    "bounds": "certificates that robust TDC stays bounded in mean square, for draws of the features of Figure 3",
    "controls": "which kind of statistical cell finds which wrong algorithm violated, at quick size",
}


def add_parser(studies: Commands) -> None:
    """The studies and their options."""
    for name, what in STUDIES.items():
        study = studies.add_parser(
            name,
            help=what,
            description=f"Measures {what}. The result replaces the committed one.",
            epilog=f"example: robust-core study {name} --output {name}.json",
        )
        add_json(study, "the result")
        add_quiet(study, "write the file and print nothing")
        study.add_argument("--output", type=Path, metavar="FILE", help="the result (default: the committed one)")
        study.set_defaults(run=_study, study=name)


def _study(options: argparse.Namespace) -> int:
    from benchmarks.runner.pool import single_thread
    from robust_core.json import dumps

    single_thread()
    output = output_of(options, BASELINES / f"{options.study}.json")
    found = importlib.import_module(f"benchmarks.studies.{options.study}").measure()
    write_record(output, found)
    if options.json or not options.quiet:
        print(dumps(found) if options.json else output)
    return HOLDS
