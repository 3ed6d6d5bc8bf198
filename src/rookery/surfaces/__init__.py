"""Doors for people and programs. A surface parses, calls a service and renders; it decides nothing."""
