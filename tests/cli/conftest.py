"""Runs the command in this process and catches what it prints; nothing of the user's own settings is seen."""

import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tidemill.cli.main import run


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    def json(self) -> Any:
        return json.loads(self.out)


Cli = Callable[..., Result]


@pytest.fixture(autouse=True)
def _nothing_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [name for name in os.environ if name.startswith("TIDEMILL_") and "JARS" not in name]:
        if name != "TIDEMILL_CACHE_DIR":
            monkeypatch.delenv(name)
    monkeypatch.setenv("TIDEMILL_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("TIDEMILL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("NO_COLOR", "1")
    # Loading a user's program puts its folder on the path.
    monkeypatch.setenv("PYTHONPATH", os.environ.get("PYTHONPATH", ""))
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.fixture
def tidemill() -> Cli:
    """Run `tidemill` with these words."""

    def call(*words: str, input: str | bytes = b"") -> Result:  # noqa: A002 -- as in subprocess.run
        data = input.encode() if isinstance(input, str) else input
        kept = sys.stdin, sys.stdout, sys.stderr
        out, err = io.BytesIO(), io.BytesIO()
        sys.stdin = io.TextIOWrapper(io.BytesIO(data))
        sys.stdout = io.TextIOWrapper(out, encoding="utf-8")
        sys.stderr = io.TextIOWrapper(err, encoding="utf-8")
        try:
            code = run(words)
            sys.stdout.flush()
            sys.stderr.flush()
            return Result(int(code), out.getvalue().decode(), err.getvalue().decode())
        finally:
            sys.stdin, sys.stdout, sys.stderr = kept

    return call


@pytest.fixture
def cli(tidemill: Cli, kafka: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cli]:
    """Run `tidemill` against the broker of the tests."""
    monkeypatch.setenv("TIDEMILL_BOOTSTRAP_SERVER", kafka.bootstrap_servers)
    return tidemill


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compare a text with a file a reviewer can read; TIDEMILL_GOLDEN=write renews the files."""

    def check(name: str, text: str) -> None:
        path = Path(__file__).parent / "golden" / name
        if _RENEW:
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), f"{path} differs; TIDEMILL_GOLDEN=write renews it"

    return check


_RENEW = os.environ.get("TIDEMILL_GOLDEN") == "write"
