"""Every printed command, run as it is printed, in a clean clone of its own (`tox run -e commands`)."""
