import xml.etree.ElementTree as ET

import pytest

from gsl_scale.experiment.plots import Line, figure, line_plot, panels

SVG = "{http://www.w3.org/2000/svg}"


def rows(column, values, *series):
    return [
        {column: value, **{name: {"mean": 70.0 + at, "std": 1.0} for name in series}}
        for at, value in enumerate(values)
    ]


def summary(experiment, columns, series, **more):
    return {
        "experiment": experiment,
        "dataset": "tiny",
        "columns": columns,
        "series": series,
        **more,
    }


TAU = summary(
    "tau",
    ["tau"],
    ["learned graph"],
    rows=[{**row, "paper": 80.0} for row in rows("tau", (1.0, 0.99), "learned graph")],
    curves=[{"tau": t, "test": [[0, 60.0], [20, 70.0]], "loss": [[20, 5.0]]} for t in (1.0, 0.99)],
)


def test_a_line_per_series_with_whiskers():
    lines = [Line("a", [(0, 1.0), (1, 3.0)], [0.5, 0.0]), Line("b", [(0, 2.0), (1, 2.0)])]
    root = ET.fromstring(line_plot("label", lines, "rate"))
    kinds = [path.get("class") for path in root.iter("path")]
    assert kinds.count("series s0") == 2  # the line, and its sample in the legend
    assert kinds.count("spread s0") == 1 and kinds.count("spread s1") == 0
    marks = [float(c.get("cy")) for c in root.iter("circle") if "s0" in c.get("class")]
    assert marks[0] > marks[1]  # the larger value is higher up
    texts = [text.text for text in root.iter("text")]
    assert {"a", "b", "rate"} <= set(texts)
    assert root.find(".//circle/title").text == "a, 0: 1 ± 0.5"


def test_tau_in_the_papers_form():
    found = dict(panels(TAU))
    assert list(found) == ["Test accuracy, %", "Test accuracy by step, %", "Loss by step (NT-Xent)"]
    texts = [text.text for text in ET.fromstring(found["Test accuracy, %"]).iter("text")]
    assert {"1", "0.99", "τ", "learned graph", "paper"} <= set(texts)
    curves = [text.text for text in ET.fromstring(found["Test accuracy by step, %"]).iter("text")]
    assert {"τ = 1", "τ = 0.99", "step"} <= set(curves)


def test_masks_are_a_square():
    cells = [
        {"learner": a, "anchor": b, "learned graph": {"mean": 60 + 10 * a + b, "std": 0.0}}
        for a in (0.1, 0.9)
        for b in (0.1, 0.9)
    ]
    ((_, drawn),) = panels(
        summary("features-mask", ["learner", "anchor"], ["learned graph"], rows=cells)
    )
    root = ET.fromstring(drawn)
    shades = [float(r.get("fill-opacity")) for r in root.iter("rect") if r.get("class") == "heat"]
    assert shades == sorted(shades) and len(shades) == 4
    assert "69.9" in [text.text for text in root.iter("text")]


def test_robustness_has_two_panels_of_three_lines():
    series = ("learned graph", "given graph", "kNN graph")
    found = panels(
        summary(
            "robustness",
            ["damage", "rate"],
            list(series),
            rows=[
                {**row, "damage": damage}
                for damage in ("delete", "add")
                for row in rows("rate", (0.0, 0.5, 0.9), *series)
            ],
        )
    )
    assert [caption.split(":")[0] for caption, _ in found] == ["Edges deleted", "Edges added"]
    assert len(list(ET.fromstring(found[0][1]).iter("circle"))) == 9


def test_weights_are_where_they_belong():
    weights = {
        "groups": [{"name": "5 L", "nodes": [3, 8]}, {"name": "6 U", "nodes": [1]}],
        "graphs": {"given graph": [[0, 0, 1.0], [0, 2, 0.5]], "learned graph": []},
    }
    found = dict(panels(summary("heatmap", [], ["weights"], weights=weights)))
    assert list(found) == ["given graph", "learned graph"]
    heat = [r for r in ET.fromstring(found["given graph"]).iter("rect") if r.get("class") == "heat"]
    assert float(heat[0].get("x")) < float(heat[1].get("x"))
    assert heat[0].get("y") == heat[1].get("y")
    assert float(heat[0].get("fill-opacity")) == pytest.approx(1.0)
    assert float(heat[1].get("fill-opacity")) == pytest.approx(0.56)


def test_a_figure_is_a_file_of_its_own():
    root = ET.fromstring(figure("τ, tiny", panels(TAU)))
    assert root.tag == f"{SVG}svg" and root.get("aria-label") == "τ, tiny"
    inner = root.findall(f"{SVG}svg")
    assert len(inner) == 3
    lefts = [float(one.get("x")) for one in inner]
    assert lefts == sorted(lefts)
    style = root.find(f"{SVG}style").text
    for rule in ("--s0", "--paper", "svg .series", "svg .tick", "svg text"):
        assert rule in style
    assert "body" not in style and "http" not in style
