"""A complete variant of each kind in a few lines, as a user would write it; `docs/variants.md` shows them."""
