"""The bits of a TDC run are a function of its inputs, not of where the heap has room for its arrays."""

import ctypes
import itertools

import numpy as np
import pytest

from properties.tests.linear_rounding import setting
from robust_core.kernels import linear as kernel
from robust_core.learners.linear import learn

STEPS = 256
HEAPS = 100


def test_arrays_always_lie_at_the_same_distances() -> None:
    arrays = [np.zeros(2), np.zeros(2), np.ones((4, 2)), np.ones((4, 2)).T, np.zeros(4), np.zeros(4), np.zeros(2)]
    distances = set()
    for _ in range(HEAPS):
        copies = kernel._laid_out(*arrays)
        assert all(
            copy.flags.c_contiguous and np.array_equal(copy, array) for copy, array in zip(copies, arrays, strict=True)
        )
        places = [copy.__array_interface__["data"][0] for copy in copies]
        distances.add(tuple(after - before for before, after in itertools.pairwise(places)))
    ((*only,),) = distances
    assert min(only) >= 8 * kernel._GAP


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc"), reason="needs the C library's heap")
def test_the_heap_does_not_change_the_bits() -> None:
    """Blocks of the sizes of the kernel's scratch are freed in random order before every run."""
    heap = ctypes.CDLL(None)
    heap.malloc.restype, heap.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    heap.free.restype, heap.free.argtypes = None, [ctypes.c_void_p]
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(HEAPS):
        places = [heap.malloc(int(size)) for size in rng.integers(96, 220, 60)]
        for i in rng.permutation(len(places)):
            heap.free(places[i])
        learner, walk = setting("TDC", "plain")
        learn(learner, walk, STEPS)
        seen.add(learner.theta.tobytes() + learner.omega.tobytes())
    assert len(seen) == 1
