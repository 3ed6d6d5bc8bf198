"""WebSocket: the journal, live, from a cursor."""
