"""Whether state survives another version of a program: said before it is deployed."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from tidemill.cli.main import run as tidemill
from tidemill.runtime.checkpoint import Note

HEAD = """
from tidemill import StreamsBuilder, serdes, windows
builder = StreamsBuilder()
words = builder.stream("words", key=serdes.string, value=serdes.string)
"""
COUNT = "words.group_by_key().count(store='totals').to_stream().to('counts')\n"
FILTERED = COUNT.replace("words.", "words.filter(lambda value: value != 'x', name='clean').")
MORE = "builder.stream('lines').to('copy')\n"
LATE = "builder.stream('late', offset_reset='latest').to('copy')\n"
WINDOWED = COUNT.replace(".count", ".windowed_by(windows.tumbling('1 minute', grace='0 seconds')).count")


def check(tmp_path, capsys, old: str, new: str) -> tuple[int, dict[str, str]]:
    """The exit code, and the verdict by name."""
    for name, text in (("old", old), ("new", new)):
        (tmp_path / f"{name}.py").write_text(HEAD + text)
    words = [str(tmp_path / "old.py"), str(tmp_path / "new.py"), "--all", "-O", "json"]
    code = tidemill(["app", "upgrade-check", *words])
    rows = json.loads(capsys.readouterr().out)
    return code, {row["name"]: row["verdict"] for row in rows}


@pytest.mark.parametrize(
    ("new", "code", "name", "verdict"),
    [
        (COUNT, 0, "totals", "keep"),
        (FILTERED, 0, "clean", "new"),
        (COUNT + MORE, 0, "lines", "new"),
        (COUNT.replace("totals", "sums"), 1, "sums", "refused"),
        (WINDOWED, 1, "totals", "needs reset"),
        (
            COUNT.replace("group_by_key()", "group_by(lambda key, value: value, name='by')"),
            1,
            "totals",
            "needs reset",
        ),
        (COUNT + LATE, 1, "readers", "needs reset"),
        (MORE, 1, "totals", "dropped"),
        ("words.to('copy')\n", 1, "levels", "needs reset"),
        (
            COUNT
            + COUNT.replace("group_by_key()", "group_by(lambda key, value: value)").replace(
                "totals", "by-word"
            ),
            1,
            "levels",
            "needs reset",
        ),
    ],
)
def test_verdicts(tmp_path, capsys, new, code, name, verdict):
    found, rows = check(tmp_path, capsys, COUNT, new)
    assert rows.get(name) == verdict
    assert found == code


def test_a_topic_that_is_read_no_longer_needs_a_reset(tmp_path, capsys):
    code, rows = check(tmp_path, capsys, COUNT + MORE, COUNT)
    assert (code, rows["lines"], rows["totals"]) == (1, "needs reset", "keep")


def test_the_note_of_an_app_stands_for_its_program(tmp_path, capsys):
    from tidemill.cli.app_load import load_topology

    (tmp_path / "program.py").write_text(HEAD + COUNT)
    note = Note.of(load_topology(str(tmp_path / "program.py")), 2)
    folder = tmp_path / "state" / "shop"
    folder.mkdir(parents=True)
    (folder / "app.json").write_text(json.dumps({"version": 1, **asdict(note)}))
    (tmp_path / "renamed.py").write_text(HEAD + COUNT.replace("totals", "sums"))
    for old in ("shop", str(folder / "app.json")):
        for new, code in (("program.py", 0), ("renamed.py", 1)):
            words = ["app", "upgrade-check", old, str(tmp_path / new), "--state-dir", str(folder.parent)]
            assert tidemill(words) == code
    told = capsys.readouterr()
    assert "store\tsums\trefused\tit looks like `totals` under another name" in told.out
    assert "keep the old names, or reset the app" in told.err
    assert tidemill(["app", "upgrade-check", "nobody", str(tmp_path / "program.py")]) == 3
