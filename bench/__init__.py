"""Benchmarks: `python -m bench`, or `make bench`. Every line of the table is a ratio taken within one run."""
