"""Units of work: content-addressed, resumable, on several processes or a cluster."""
