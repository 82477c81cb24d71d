"""Learning: one step of the method, the loop around it, and what is kept of it."""
