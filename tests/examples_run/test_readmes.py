"""Every example runs end to end on Kafka by the commands of its README, and prints what the README says."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from examples_run.readme import EXAMPLES, NAMES, printed_by, rewritten, steps
from tidemill.kafka.admin import Admin
from tidemill.kafka.settings import Settings

_RENEW = os.environ.get("TIDEMILL_GOLDEN") == "write"


@pytest.fixture
def place(kafka: Any, spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The broker and the Spark of the run, and topics that are gone afterwards."""
    monkeypatch.setenv("TIDEMILL_BOOTSTRAP_SERVER", kafka.bootstrap_servers)
    monkeypatch.setenv("TIDEMILL_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("TIDEMILL_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("NO_COLOR", "1")
    admin = Admin(Settings.of(kafka.client_config()))
    before = {topic.name for topic in admin.topics()}
    yield
    if made := [topic.name for topic in admin.topics() if topic.name not in before]:
        admin.delete(made)


@pytest.mark.parametrize("name", NAMES)
def test_readme_says_what_is_printed(name: str, place: None) -> None:
    told = steps(name)
    for step in told:
        printed = printed_by(step.command)
        if _RENEW:
            step.printed = printed
        assert printed == step.printed, step.command
    if _RENEW:
        rewritten(name, told)


def test_every_example_is_whole() -> None:
    for name in NAMES:
        assert {"app.py", "README.md", "test_app.py"} <= {file.name for file in (EXAMPLES / name).iterdir()}


def test_links_lead_somewhere() -> None:
    for page in EXAMPLES.rglob("README.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page}: {target}"


def test_every_example_is_listed() -> None:
    listed = re.findall(r"\]\((\w+)/README\.md\)", (EXAMPLES / "README.md").read_text())
    assert sorted(listed) == NAMES


def test_commands_begin_with_a_kafka_and_offer_the_demo() -> None:
    for name in NAMES:
        text = (EXAMPLES / name / "README.md").read_text()
        assert "tidemill dev up --detach" in text
        if "tidemill" in (EXAMPLES / name / "app.py").read_text().split("import", 1)[1].split("def ")[0]:
            assert f"tidemill demo {name.replace('_', '-')}" in text
