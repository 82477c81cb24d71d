"""How good a graph is: the only place that opens labels."""
