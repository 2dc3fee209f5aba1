"""Every Python block of the documentation runs, and every tidemill command in it exists."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from tidemill.cli.main import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
GENERATED = ROOT / "docs" / "reference" / "cli.md"

_BLOCK = re.compile(
    r"(?P<not_run><!-- not run: (?P<reason>[^>]+) -->\n)?^```(?P<language>\w+)\n(?P<code>.*?)^```$",
    flags=re.MULTILINE | re.DOTALL,
)


def blocks(page: Path, *languages: str) -> Iterator[tuple[int, str, bool]]:
    """(line, code, whether it runs) of a page's blocks."""
    text = page.read_text(encoding="utf-8")
    for match in _BLOCK.finditer(text):
        if match["language"] in languages:
            yield text[: match.start("code")].count("\n") + 1, match["code"], match["not_run"] is None


def commands() -> Iterator[Any]:
    for page in PAGES:
        if page != GENERATED:
            for line, code, _ in blocks(page, "console", "shell", "bash", "sh"):
                for offset, text in enumerate(code.splitlines()):
                    words = shlex.split(text, comments=True)
                    if "tidemill" in words and not "".join(words[: words.index("tidemill")]).endswith(
                        "--system"
                    ):
                        where = f"{page.relative_to(ROOT)}:{line + offset}"
                        yield pytest.param(words[words.index("tidemill") + 1 :], id=where)


PYTHON_PAGES = [page for page in PAGES if any(runs for _, _, runs in blocks(page, "python"))]


@pytest.mark.parametrize("page", PYTHON_PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_blocks_of_a_page_run(page: Path, request: pytest.FixtureRequest) -> None:
    """Blocks of one page follow each other in one namespace, as a reader would type them."""
    found = [(line, code) for line, code, runs in blocks(page, "python") if runs]
    if any("TopologyTestDriver" in code or "pyspark" in code for _, code in found):
        request.getfixturevalue("spark")
    namespace: dict[str, Any] = {"__name__": "snippet"}
    for line, code in found:
        exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)


@pytest.mark.parametrize("words", list(commands()))
def test_tidemill_commands_of_the_pages_exist(words: list[str]) -> None:
    """Parsed as the command line would, and not called. Redirections end what is the command's own."""
    for sign in ("|", ">", "<", "&&", ";"):
        words = words[: words.index(sign)] if sign in words else words
    command = typer.main.get_command(app)
    context = command.make_context("tidemill", [], resilient_parsing=True)
    while hasattr(command, "get_command") and words != ["--help"]:
        name, command, words = command.resolve_command(context, words)
        assert command is not None, name
    if words != ["--help"]:
        command.make_context(command.name, list(words), parent=context)


def test_readme_shows_the_two_commands_at_once() -> None:
    top = (ROOT / "README.md").read_text().splitlines()[:30]
    assert any(line.startswith("make demo") for line in top)
    assert any(line.startswith("make test") for line in top)


def test_links_between_pages_lead_somewhere() -> None:
    broken = []
    for page in PAGES:
        prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", prose):
            if not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == []
