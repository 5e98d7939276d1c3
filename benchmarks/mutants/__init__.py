"""The kill matrix: which law catches which wrong algorithm."""
