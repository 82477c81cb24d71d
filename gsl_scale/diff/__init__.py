"""What became of a graph: two graphs, edge by edge and node by node.

read.py     any graph, stored by us or in a file, as pairs of nodes
match.py    which node of one is which node of the other
labels.py   labels, if there are any, for homophily
compare.py  the figures
text.py, page.py   how they look
"""
