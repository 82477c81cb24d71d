import xml.etree.ElementTree as ET

from gsl_scale.bench.plots import Line, log_plot

SVG = "{http://www.w3.org/2000/svg}"


def test_a_plot_stands_on_its_own():
    lines = [
        Line("knn <&>", [1000, 10_000], [1.0, 16.0], [0.9, 15.0], [1.2, 17.0]),
        Line("ideal", [1000, 10_000], [1.0, 10.0], ideal=True),
    ]
    drawn = ET.fromstring(log_plot("growth", "nodes", "seconds", lines))
    assert drawn.tag == f"{SVG}svg"
    texts = [text.text for text in drawn.iter(f"{SVG}text")]
    assert {"growth", "nodes", "seconds", "knn <&>", "ideal", "1000", "10 k"} <= set(texts)
    assert len(list(drawn.iter(f"{SVG}circle"))) == 2


def test_a_power_is_a_straight_line():
    x = [10, 100, 1000]
    drawn = ET.fromstring(log_plot("", "", "", [Line("", x, [v**1.5 for v in x])]))
    (a, b), (c, d), (e, f) = (
        (float(dot.get("cx")), float(dot.get("cy"))) for dot in drawn.iter(f"{SVG}circle")
    )
    assert abs((d - b) / (c - a) - (f - d) / (e - c)) < 1e-3


def test_names_are_in_the_order_of_their_lines_and_of_other_colours():
    ends = {"a": 5.0, "b": 5.2, "c": 5.1, "d": 90.0, "e": 1.0, "f": 5.15, "g": 2.0, "h": 40.0}
    lines = [Line(name, [1, 10], [1.0, end]) for name, end in ends.items()]
    drawn = ET.fromstring(log_plot("", "", "", lines))
    names = [text for text in drawn.iter(f"{SVG}text") if text.text in ends]
    names.sort(key=lambda text: float(text.get("y")))
    assert [text.text for text in names] == sorted(ends, key=ends.get, reverse=True)
    assert len({text.get("fill") for text in names}) == len(ends)


def test_one_point_and_names_apart():
    same = [Line(name, [5], [2.0]) for name in "abc"]
    drawn = ET.fromstring(log_plot("", "", "", same))
    heights = [float(t.get("y")) for t in drawn.iter(f"{SVG}text") if t.text in tuple("abc")]
    assert min(abs(a - b) for i, a in enumerate(heights) for b in heights[:i]) >= 10
