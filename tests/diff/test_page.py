"""The command: text, JSON and a page."""

import json
from html.parser import HTMLParser

import pandas as pd
import pytest


@pytest.fixture
def files(tmp_path):
    odd = "<script>[bold]"
    pd.DataFrame({"a": ["x", "y", odd], "b": ["y", odd, "z"]}).to_csv(
        tmp_path / "o.csv", index=False
    )
    pd.DataFrame({"a": ["x", "z"], "b": [odd, odd]}).to_csv(tmp_path / "n.csv", index=False)
    (tmp_path / "l.csv").write_text(f'id,label\nx,1\ny,1\nz,2\n"{odd}",2\n')
    return [tmp_path / name for name in ("o.csv", "n.csv", "l.csv")]


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen, self.open = [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_text(gsl, files):
    done = gsl("diff", *files[:2], "--labels", files[2])
    assert done.code == 0
    assert "Jaccard 0.250: edges 1 kept, 2 dropped (2 with a node), 1 added" in done.out
    assert "nodes matched by id: 3 in both, 1 only in old, 0 only in new" in done.out
    assert "<script>[bold]" in done.out
    assert "homophily (4 labels, chance 0.500)" in done.out


def test_json(gsl, files):
    report = json.loads(gsl("diff", *files[:2], "--json", "--nodes", 1).out)
    assert report["edges"]["kept"] == 1
    assert len(report["nodes"]["changed_most"]) == 1
    assert report["homophily"] is None


def test_page_is_whole_and_needs_no_network(gsl, files, tmp_path):
    page = tmp_path / "made/changes.html"
    done = gsl("diff", *files[:2], "--labels", files[2], "--page", page)
    assert f"The page to look at: {page}" in done.out
    text = page.read_text()
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    assert not {"script", "link", "img", "iframe"} & {tag for tag, _ in tags.seen}
    assert "http" not in text and "url(" not in text
    assert "prefers-color-scheme: dark" in text
    assert "&lt;script&gt;[bold]" in text
    assert sum(tag == "rect" for tag, _ in tags.seen) == 60


def test_labels_of_a_run_are_found(gsl, tmp_path):
    (tmp_path / "x.csv").write_text("id,f,y\na,1,0\nb,2,0\nc,3,1\n")
    (tmp_path / "e.csv").write_text("from,to\na,b\nb,c\n")
    gsl("ingest", "--features", tmp_path / "x.csv", "--edges", tmp_path / "e.csv",
        "--label-column", "y", "--out", tmp_path / "data")  # fmt: skip
    report = json.loads(gsl("diff", tmp_path / "e.csv", tmp_path / "data", "--json").out)
    assert report["homophily"]["new"]["share"] == 0.5
    assert report["homophily"]["labels"] == str(tmp_path / "data")


def test_mistakes(gsl, files, tmp_path):
    done = gsl("diff", files[0], tmp_path / "none")
    assert done.code == 2
    assert "none does not exist" in done.err
