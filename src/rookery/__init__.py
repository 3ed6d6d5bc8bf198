"""Rookery: a switchboard for AI coding agents and the person who runs them."""

__version__ = "0.1.0"
