"""Elements of a drawing. Text and attributes are escaped by the XML writer, whatever they hold."""

import xml.etree.ElementTree as ET

WIDTH = 400.0  # of every chart, so that text has one size on a page, and can be read on a phone


def drawing(height: float, label: str, width: float = WIDTH) -> ET.Element:
    """An empty chart; the label is read out in its place."""
    size = {"viewBox": f"0 0 {number(width)} {number(height)}"}
    return ET.Element("svg", {**size, "role": "img", "aria-label": _printable(label)})


def add(
    parent: ET.Element, tag: str, text: str = "", tip: str = "", /, **attributes: float | str
) -> ET.Element:
    """One element more; `class_` is class, `_` in a name is `-`; `tip` shows on hover."""
    named = {
        name.rstrip("_").replace("_", "-"): value if isinstance(value, str) else number(value)
        for name, value in attributes.items()
    }
    element = ET.SubElement(parent, tag, named)
    element.text = _printable(text) or None
    if tip:
        ET.SubElement(element, "title").text = _printable(tip)
    return element


def text_of(drawn: ET.Element) -> str:
    return ET.tostring(drawn, encoding="unicode")


def number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def shortened(name: str, length: int) -> str:
    return name if len(name) <= length else name[: length - 1] + "…"


def _printable(text: str) -> str:
    """Control characters have no place in a drawing."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
