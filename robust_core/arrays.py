"""Models in npz files: dense (P, cost) or sparse (offsets, successors, probabilities, cost), with gamma or without."""

import zipfile
from pathlib import Path

import numpy as np

from robust_core import validate
from robust_core.mdp import MDP, SparseRows

DENSE, SPARSE = {"P", "cost"}, {"offsets", "successors", "probabilities", "cost"}


def read_npz(path: Path, gamma: float | None = None) -> MDP:
    """The model of a file; `gamma` replaces that of the file. Anything else is a `ValueError` with the reason."""
    path = Path(path)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            names = set(arrays.files) - {"gamma"}
            if names not in (DENSE, SPARSE):
                wanted = " or ".join(", ".join(sorted(each)) for each in (DENSE, SPARSE))
                raise ValueError(f"must have the arrays {wanted}, and may have gamma, got {sorted(arrays.files)}")
            if gamma is None:
                if "gamma" not in arrays.files:
                    raise ValueError("gamma must be given: the file has none")
                gamma = float(validate.array("gamma", arrays["gamma"], shape=()))
            data = {name: arrays[name] for name in names}
    except FileNotFoundError:
        raise
    except (ValueError, TypeError, OSError, zipfile.BadZipFile, EOFError, KeyError, NotImplementedError) as error:
        raise ValueError(f"{path}: {error!s:.200}") from None
    try:
        cost = data.pop("cost")
        return MDP(data["P"] if "P" in data else SparseRows(**data), cost, gamma)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error!s:.200}") from None


def write_npz(path: Path, mdp: MDP) -> None:
    """Write a model, as it is stored: dense or sparse."""
    kernel = mdp.kernel
    if isinstance(kernel, SparseRows):
        np.savez(path, offsets=kernel.offsets, successors=kernel.successors, probabilities=kernel.probabilities,
                 cost=mdp.cost, gamma=mdp.gamma)  # fmt: skip
    else:
        np.savez(path, P=kernel, cost=mdp.cost, gamma=mdp.gamma)
