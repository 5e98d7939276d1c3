"""Laws that apply to any variant of a kind; `catalogue.LAWS` has them all."""
