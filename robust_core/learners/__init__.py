"""The learners of Algorithms 1 and 2 and the runs that drive them."""
