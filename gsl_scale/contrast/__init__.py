"""Two views of the same nodes, and how far they agree."""
