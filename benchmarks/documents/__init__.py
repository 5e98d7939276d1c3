"""The generated documents."""
