"""Statistical verdicts with a known probability of being wrong: e-processes, designs, an error budget, laws."""
