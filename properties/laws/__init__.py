"""Laws that apply to any variant of a kind; `LAWS` has them all, cheapest and most basic first."""

from properties.law import Law
from properties.laws import control, operator

LAWS: tuple[Law, ...] = (*operator.LAWS, *control.LAWS)
