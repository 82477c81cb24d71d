"""Slow, exact, dense: what the fast code is compared with."""
