"""Studies that are run rarely and feed documents."""
