"""The sections of the page: one module each, pure functions of the collected data."""
