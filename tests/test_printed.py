from rich.table import Table

from gsl_scale.printed import printed


def test_a_log_has_whole_tables(capsys, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    wide = Table(*(f"a column of some width {i}" for i in range(6)), box=None)
    printed().print(wide)
    assert len(capsys.readouterr().out.splitlines()) == 1
    monkeypatch.setenv("COLUMNS", "60")
    printed().print(wide)
    assert len(capsys.readouterr().out.splitlines()) > 1
