"""The laws as tests of your own: one test per law. To run them: pytest test_my_variant.py"""

from robust_q_learning import MINE

from robust_core import parametrize_with_checks


@parametrize_with_checks([MINE], examples=20, size=None)
def test_my_variant(check):
    check()
