"""New nodes for a finished run, without training: read (`arrivals.py`), seen and embedded as the
run's own were (`embed.py`), and joined to its graph (`attach.py`). `run.py` writes the new run.

Edges that touch a new node are those that an export of all embeddings would give. Edges between
old nodes keep their weights, bit for bit, unless they are asked to be made anew.
"""
