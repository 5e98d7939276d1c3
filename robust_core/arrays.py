"""Models in npz files: dense (P, cost) or sparse (offsets, successors, probabilities, cost), with gamma or without."""

import zipfile
from pathlib import Path
from typing import BinaryIO

import numpy as np

from robust_core import json, validate
from robust_core.mdp import MDP, SparseRows

DENSE, SPARSE = {"P", "cost"}, {"offsets", "successors", "probabilities", "cost"}


def read_npz(path: Path, gamma: float | None = None, *, largest: int | None = None) -> MDP:
    """The model of a file; `gamma` replaces that of the file. Anything else is a `ValueError` with the reason.

    A file of a megabyte may unpack to gigabytes: arrays of more than `largest` bytes are refused before they are read.
    """
    path = Path(path)
    try:
        with json.open_regular(path) as file:
            if largest is not None and sum(each.file_size for each in zipfile.ZipFile(file).infolist()) > largest:
                raise ValueError(f"its arrays must have at most {largest} bytes")
            file.seek(0)
            data, gamma = _arrays(file, gamma)
    except FileNotFoundError:
        raise
    except (ValueError, TypeError, OSError, zipfile.BadZipFile, EOFError, KeyError, NotImplementedError,
            MemoryError) as error:  # fmt: skip
        raise ValueError(f"{path}: {error!s:.200}") from None
    try:
        cost = data.pop("cost")
        return MDP(data["P"] if "P" in data else SparseRows(**data), cost, gamma)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error!s:.200}") from None


def _arrays(file: BinaryIO, gamma: float | None) -> tuple[dict[str, np.ndarray], float]:
    """The arrays of a model, and its discount."""
    with np.load(file, allow_pickle=False) as arrays:
        names = set(arrays.files) - {"gamma"}
        if names not in (DENSE, SPARSE):
            wanted = " or ".join(", ".join(sorted(each)) for each in (DENSE, SPARSE))
            raise ValueError(f"must have the arrays {wanted}, and may have gamma, got {sorted(arrays.files)}")
        if gamma is None:
            if "gamma" not in arrays.files:
                raise ValueError("gamma must be given: the file has none")
            gamma = float(validate.array("gamma", arrays["gamma"], shape=()))
        return {name: arrays[name] for name in names}, gamma


def write_npz(path: Path, mdp: MDP) -> None:
    """Write a model, as it is stored: dense or sparse."""
    kernel = mdp.kernel
    if isinstance(kernel, SparseRows):
        np.savez(path, offsets=kernel.offsets, successors=kernel.successors, probabilities=kernel.probabilities,
                 cost=mdp.cost, gamma=mdp.gamma)  # fmt: skip
    else:
        np.savez(path, P=kernel, cost=mdp.cost, gamma=mdp.gamma)
