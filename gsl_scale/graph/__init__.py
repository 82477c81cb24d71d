"""Graphs in memory: a CSR pattern, the two operations on it, and weighted graphs."""

from gsl_scale.graph.ops import edge_dot, spmm
from gsl_scale.graph.pattern import Pattern
from gsl_scale.graph.weighted import Graph

__all__ = ["Graph", "Pattern", "edge_dot", "spmm"]
