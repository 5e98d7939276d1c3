"""The hand-written C peers, built when a compiler is there."""

import ctypes
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

FLAGS = {
    # The same bits as the kernels: no contraction of products and sums.
    "q_learning.c": ("-O3", "-march=native", "-ffp-contract=off"),
    # Vectorised exponentials need leave to reorder and the vector library of the C library.
    "tdc.c": ("-O3", "-march=native", "-ffast-math"),
    # A loop as it is written, without leave to reorder.
    "s_rectangular.c": ("-O2",),
}


@cache
def library(source: str) -> ctypes.CDLL | None:
    """The compiled source, or None without a C compiler that compiles it."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    path = Path(__file__).with_name(source)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / (source + ".so")
        command = [compiler, *FLAGS[source], "-shared", "-fPIC", "-o", str(target), str(path), "-lm"]
        built = subprocess.run(command, check=False, capture_output=True, text=True)
        if built.returncode != 0:
            sys.stderr.write(f"{compiler} does not build {source}, which is left out: {built.stderr.strip()[:200]}\n")
            return None
        return ctypes.CDLL(str(target))
