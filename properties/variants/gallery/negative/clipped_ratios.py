"""Off-policy TDC with importance ratios clipped at 1, a usual way to bound the variance: it evaluates another policy.

The mean of min(ratio, 1) is below 1 where the policies differ, so the mean step is not the gradient for the target
policy. Such a learner can promise a mean update of its own.
"""

from properties.variants.gallery.off_policy_tdc import OffPolicyTDC
from robust_core import Contamination, Transition, Variant
from robust_core.validate import Floats


class ClippedTDC(OffPolicyTDC):
    """No ratio exceeds 1."""

    def parts(self, transition: Transition) -> tuple[float, float, float, Floats]:
        """As before, with the clipped ratio."""
        ratio, *others = super().parts(transition)
        return min(ratio, 1.0), *others  # type: ignore[return-value]


VARIANT = Variant(
    "off-policy TDC with clipped ratios", "off-policy evaluation", ClippedTDC, (Contamination,), ("mean update",)
)
