"""What `tidemill app run` finds in a file, and which settings win."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tidemill.cli.app_load import load_app, load_topology
from tidemill.errors import NotFound, TidemillError, UsageError
from tidemill.kafka.settings import Settings
from tidemill.runtime.layers import command_line

HEAD = "from tidemill import App, StreamsBuilder\nbuilder = StreamsBuilder()\nbuilder.stream('a').to('b')\n"
APP = f"{HEAD}app = App('shop', builder, bootstrap_servers='k:1', commit_interval_ms=7)\n"


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], str]:
    def write(text: str) -> str:
        path = tmp_path / "program.py"
        path.write_text(text)
        return str(path)

    return write


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (APP, ""),
        (APP.replace("app =", "orders ="), ""),
        (APP + "other = App('other', builder)\n", ""),
        (APP + "other = App('other', builder)\n", ":app"),
        ("def build():\n    " + APP.replace("\n", "\n    ") + "return app\n", ""),
        (HEAD + "def make():\n    return App('shop', builder)\n", ":make"),
    ],
)
def test_the_app_is_found(program: Callable[[str], str], text: str, name: str) -> None:
    assert load_app(program(text) + name).application_id == "shop"


def test_a_builder_becomes_an_app_under_an_id(program: Callable[[str], str]) -> None:
    path = program(HEAD)
    assert load_app(path, "given").application_id == "given"
    assert load_topology(path).source_topics == ("a",)
    with pytest.raises(UsageError, match="has a topology, and no app with an id"):
        load_app(path)


@pytest.mark.parametrize(
    ("text", "name", "kind", "said"),
    [
        ("x = 1\n", "", UsageError, "there is no app in the file"),
        (
            HEAD.replace("builder", "one") + HEAD.replace("builder", "two"),
            "",
            UsageError,
            "several apps or topologies in the file: one, two",
        ),
        (APP, ":orders", NotFound, "there is no `orders` in the file; apps and topologies in it: app"),
        ("x = 1\n", ":x", UsageError, "a int is no app"),
        ("x = 1\ny = z\n", "", TidemillError, r"NameError: name 'z' is not defined \(.*program.py:2\)"),
        ("x = (\n", "", TidemillError, "SyntaxError: .*program.py:1"),
        ("raise SystemExit('no')\n", "", TidemillError, "SystemExit: no"),
        (HEAD + "App('a b', builder)\n", "", UsageError, "`a b` is not an application id"),
    ],
)
def test_what_is_wrong_is_said(
    program: Callable[[str], str], text: str, name: str, kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind, match=said):
        load_app(program(text) + name)


def test_what_a_program_defines_reaches_workers_that_lack_its_file(
    program: Callable[[str], str], tmp_path: Path
) -> None:
    from pyspark import cloudpickle

    (tmp_path / "beside_it.py").write_text("def loud(word):\n    return word.upper()\n")
    path = program(
        "from beside_it import loud\n"
        + APP
        + "class Shout:\n    def say(self, word):\n        return loud(word)\n"
    )
    load_app(path)
    work = tmp_path / "work"
    work.write_bytes(cloudpickle.dumps(sys.modules["tidemill_app_program"].Shout))
    Path(path).unlink()
    call = f"import pickle; print(pickle.load(open({str(work)!r}, 'rb'))().say('tea'))"
    # Modules beside it are found through the path that loading has set for workers of this machine.
    done = subprocess.run([sys.executable, "-c", call], capture_output=True, text=True, check=False)
    assert done.stdout == "TEA\n", done.stderr


def test_a_file_that_is_not_there_is_not_found(tidemill: Callable[..., Any]) -> None:
    for where in ("no-such.py", "no.such.module", "no.such.module:app"):
        assert tidemill("app", "run", where).code == 3


def test_the_command_line_wins_over_the_program_and_fills_what_it_leaves_open(
    program: Callable[[str], str],
) -> None:
    over = Settings.of({"commit.interval.ms": "9", "spark.ui.enabled": "true"})
    under = Settings.of({"bootstrap.servers": "ambient:1"})
    with command_line(over=over, under=under):
        app = load_app(program(APP))
        bare = load_app(program(HEAD), "bare")
    assert app.config.commit_interval_ms == bare.config.commit_interval_ms == 9
    assert app.config.spark == {"spark.ui.enabled": "true"}
    assert app.config.settings.bootstrap_servers == "k:1"
    assert bare.config.settings.bootstrap_servers == "ambient:1"
    assert load_app(program(APP)).config.commit_interval_ms == 7


def test_options_of_run_reach_the_app(
    tidemill: Callable[..., Any],
    program: Callable[[str], str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    seen: list[tuple[Any, dict[str, Any]]] = []
    monkeypatch.setattr("tidemill.runtime.App.run", lambda app, **how: seen.append((app, how)))
    toml = tmp_path / "app.toml"
    toml.write_text("commit_interval_ms = 1\nrestart_limit = 2\nmaster = 'local[7]'\n")
    words = ["--config", str(toml), "--set", "commit_interval_ms=3", "--master", "local[2]"]
    words += ["--conf", "spark.a=b", "--until", "now", "-b", "said:1"]
    result = tidemill("app", "run", program(APP), *words)
    assert result.code == 0, result.err
    ((app, how),) = seen
    config = app.config
    assert how == {"until": "now"}
    assert (config.commit_interval_ms, config.restart_limit, config.master) == (3, 2, "local[2]")
    assert (config.spark, config.settings.bootstrap_servers) == ({"spark.a": "b"}, "said:1")
    assert tidemill("app", "run", program(APP), "--conf", "a=b").code == 2
    assert tidemill("app", "run", program(APP), "--set", "no.such.setting=b").code == 2
