import xml.etree.ElementTree as ET

import numpy as np
import pytest

from gsl_scale.report.axes import Scale, ticks
from gsl_scale.report.charts import Bar, bar_chart, histogram, line_chart, share_bar
from gsl_scale.report.distributions import degree_borders


@pytest.mark.parametrize(("low", "high"), [(0, 1), (5.01, 5.03), (-3, 8), (0, 0), (4, 4), (0, 1e9)])
def test_ticks_enclose_and_are_few(low, high):
    found = ticks(low, high)
    assert found[0] <= low
    assert found[-1] >= high
    assert 2 <= len(found) <= 8


def test_scale_of_one_value_is_in_the_middle():
    assert Scale(3, 3, 0, 10)(3) == 5


def numbers(drawn, tag, name):
    return [float(e.get(name)) for e in ET.fromstring(drawn).iter(tag)]


def test_bars_are_as_long_as_their_values():
    bars = [Bar("a", 50, 5, "after", "50"), Bar("b", 25, None, "other", "25")]
    root = ET.fromstring(bar_chart("label", bars, 100, ("0", "100")))
    wide = {e.get("class"): float(e.get("width")) for e in root.iter("rect")}
    assert wide["after"] == pytest.approx(2 * wide["other"], abs=0.1)
    assert wide["after"] == pytest.approx(wide["track"] / 2, abs=0.1)
    assert sum("whisker" in e.get("class") for e in root.iter("path")) == 2  # one, and its halo


def test_a_falling_curve_goes_down():
    drawn = line_chart("label", [1, 2, 3], [6.0, 5.0, 4.0])
    assert numbers(drawn, "circle", "cy") == sorted(numbers(drawn, "circle", "cy"))
    assert numbers(drawn, "circle", "cx") == sorted(numbers(drawn, "circle", "cx"))


def test_nothing_to_show_is_still_a_chart():
    assert line_chart("one", [20], [5.0]).startswith("<svg")
    assert histogram("none", [0.0], [0.0], ["0", "1"], ["none"], "x").startswith("<svg")
    assert share_bar("none", [("kept", 0, "both")]).startswith("<svg")


def test_names_are_escaped():
    name = '</script><img src=x onerror="alert(1)">\x00'
    drawn = bar_chart(name, [Bar(name, 1, None, "other", name)], 1, (name, name))
    assert "<img" not in drawn
    assert "</script" not in drawn
    assert ET.fromstring(drawn).get("aria-label") == name.replace("\x00", " ")


@pytest.mark.parametrize("degrees", [[0], [3, 3, 3], list(range(40)), [1] * 99 + [13_000]])
def test_every_degree_has_its_bin(degrees):
    found = np.array(degrees)
    borders = degree_borders(found, found)
    assert np.histogram(found, borders)[0].sum() == len(found)
    assert (np.diff(borders) > 0).all()
    assert len(borders) <= 40
    assert borders[-1] > found.max()  # the last bin does not hold its upper end
