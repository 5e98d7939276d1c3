"""Child processes for code that is not trusted: loading, verification, replay."""
