"""What travels: requests, responses, events, errors and the table of routes."""
