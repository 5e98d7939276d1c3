"""Certificates of robust values: `writer` solves and writes them, `checker` believes nothing and verifies them."""
