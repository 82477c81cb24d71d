"""The page's content, without a browser; `test_browser.py` looks at it in one."""

import re
from html.parser import HTMLParser

import pytest

from gsl_scale.report.page import write_page

NASTY = "</script><script>alert(1)</script>\"'&<img src=x onerror=alert(1)>"


class Page(HTMLParser):
    """What there is on a page, as a browser would read it."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.links, self.charts, self.text = [], [], [], ""
        self._hidden = 0
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.tags.append(tag)
        self.links += [found[name] for name in ("src", "href") if name in found]
        assert not any(name.startswith("on") for name in found)
        if tag == "svg":
            self.charts.append(found["aria-label"])
        self._hidden += tag in ("style", "script")

    def handle_endtag(self, tag):
        self._hidden -= tag in ("style", "script")

    def handle_data(self, data):
        if not self._hidden:
            self.text += re.sub(r"\s+", " ", data)


def page(run):
    return Page(write_page(run).read_text())


def test_a_run_with_everything(make_run):
    found = page(make_run())
    assert "Yes, by 10.0 points" in found.text
    assert "10.0 points more" in found.text
    assert "repaired: 1 edge <b>merged</b>." in found.text  # as text
    assert "s · 3.0 GiB" in found.charts[-1]  # what the workers of the training held
    starts = [label.split(",")[0].split(".")[0] for label in found.charts]
    assert starts == [
        "Test accuracy",
        "Share of all edge weight that joins two nodes of the same label",
        "Clustering",
        found.charts[3].split(",")[0],
        "Neighbours per node",
        "Weights of edges",
        "Where edge weight goes",
        "Where edge weight goes",
        "Weights among some nodes",
        "Weights among some nodes",
        "Loss",
        "Candidates replaced at a refresh",
        "Time and memory of stages",
    ]
    assert "edges dropped" in found.charts[3]
    assert "nan" not in write_page(make_run()).read_text().split("<script")[0].lower()


def test_it_is_one_file_without_network(make_run):
    found = page(make_run())
    assert all(link.startswith(("#", "data:")) for link in found.links)
    html = write_page(make_run()).read_text()
    assert "http://" not in html
    assert "https://" not in html
    assert "default-src 'none'" in html


@pytest.mark.parametrize(
    ("about", "said", "not_said"),
    [
        ({"classes": ()}, "No labels were given, so this page cannot say", "Test accuracy"),
        ({"split": False}, "no nodes to train and to test a classifier on", "Test accuracy"),
        ({"evaluated": False}, "The run stopped before its evaluation", "Figures that need no"),
        ({"classes": (), "evaluated": False}, "no heatmap of groups is drawn", "Test accuracy"),
        ({"given": False}, "No graph was given, so “before” is the kNN graph", "given edges"),
        ({"accuracy": (80.0, 90.0)}, "No, 10.0 points worse", "Yes, by"),
    ],
)
def test_runs_that_lack_something(make_run, about, said, not_said):
    found = page(make_run(**about))
    assert said in found.text
    assert not_said not in found.text


def test_scores_of_another_graph_are_not_shown(make_run, tmp_path):
    run = make_run()
    assert "Test accuracy" in page(run).text
    other = make_run(degree=4, evaluated=False)  # the same folder, graph made again
    assert other == run
    assert (run / "metrics").exists()
    assert "The run stopped before its evaluation" in page(run).text


def test_what_users_type_is_text(make_run):
    ids = tuple(f"{NASTY}{i}" for i in range(60))
    run = make_run(ids=ids, classes=(NASTY, "dog"))
    run = run.rename(run.with_name("a<b>&'\"c"))
    (run / "config.yaml").write_text(f"data: '{NASTY}'")
    html = write_page(run).read_text()
    assert "<script>alert" not in html
    assert "<img" not in html
    found = Page(html)
    assert found.tags.count("script") == 2  # the packed nodes, and ours
    assert "img" not in found.tags
    assert NASTY in found.text
    assert "a<b>&'\"c" in found.text


def test_a_graph_as_large_as_arxiv_fits(large_run):
    path = write_page(large_run)
    assert path.stat().st_size < 5_000_000
    found = Page(path.read_text())
    assert re.search(r"[\d,]+ of 169,343 nodes are here: half of them those whose", found.text)


def test_no_edges_at_all(make_run):
    found = page(make_run(degree=0))
    assert "The given graph has no edges" in found.text
