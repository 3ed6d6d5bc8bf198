"""Contract suites that an implementation of a port inherits.

They need the `test` extra; the hub itself never imports them.
"""
