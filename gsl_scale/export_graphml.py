"""GraphML, written as a stream: networkx would hold the whole document in memory."""

import re
from pathlib import Path
from xml.sax.saxutils import quoteattr

from gsl_scale.convert import once
from gsl_scale.errors import InputError
from gsl_scale.load import StoredGraph
from gsl_scale.progress import Advance

_HEAD = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="weight" for="edge" attr.name="weight" attr.type="float"/>
<graph edgedefault="{kind}">
"""
_TAIL = "</graph>\n</graphml>\n"
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_graphml(graph: StoredGraph, path: Path, advance: Advance) -> int:
    """Every node, with its own id; each undirected edge once. How many edges."""
    names = [_attribute(str(name)) for name in graph.ids.tolist()]
    rows = 0
    with path.open("w", encoding="utf-8") as file:
        file.write(_HEAD.format(kind="undirected" if graph.undirected else "directed"))
        file.writelines(f"<node id={name}/>\n" for name in names)
        for edges in graph.blocks():
            src, dst, weight = once(graph, edges)
            file.writelines(
                f'<edge source={names[a]} target={names[b]}><data key="weight">{w}</data></edge>\n'
                for a, b, w in zip(src.tolist(), dst.tolist(), weight, strict=True)
            )
            rows += len(src)
            advance(len(edges.src))
        file.write(_TAIL)
    return rows


def _attribute(name: str) -> str:
    if _NOT_IN_XML.search(name):
        raise InputError(
            f"The id {name!r} holds a character that XML cannot.",
            "GraphML is XML, and no other program would open the file.",
            "Rename the node, or export to Parquet or CSV.",
        )
    return quoteattr(name)
