"""Two variants of one kind side by side: where they part, how far they are equal, and with which the oracle sides.

Both run in workers. The parent draws problems, compares answers, and makes the smallest problem on which they part.
"""
