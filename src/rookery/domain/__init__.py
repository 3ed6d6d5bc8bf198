"""The words of Rookery and their rules: pure, synchronous, without I/O and without a clock."""
