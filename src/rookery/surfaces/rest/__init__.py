"""REST: the table of routes, served."""
