"""Claims of the literature about uncertainty sets, as executable statements; costs: nature maximises q·v."""
