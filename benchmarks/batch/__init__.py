"""The statistical cells on the runner: batches, nights, history, the gate."""
