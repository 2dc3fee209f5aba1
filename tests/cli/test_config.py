"""Settings: who wins, what is shown, what is saved."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def shown(result: Any) -> dict[str, tuple[str, str]]:
    return {row["setting"]: (row["value"], row["source"]) for row in result.json()}


def test_the_default(tidemill: Callable[..., Any]) -> None:
    assert tidemill("config", "show").lines == ["bootstrap.servers\t127.0.0.1:9092\tdefault"]


def test_the_most_specific_wins(
    tidemill: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def server(*words: str) -> tuple[str, str]:
        return shown(tidemill("config", "show", "-O", "json", *words))["bootstrap.servers"]

    assert tidemill("config", "set", "bootstrap.servers", "profile:1").code == 0
    assert server() == ("profile:1", "profile default")
    monkeypatch.setenv("TIDEMILL_BOOTSTRAP_SERVER", "environment:1")
    assert server() == ("environment:1", "TIDEMILL_BOOTSTRAP_SERVER")
    tidemill("config", "set", "bootstrap.servers", "other:1", "--profile", "other")
    assert server("--profile", "other") == ("other:1", "profile other")
    file = tmp_path / "client.properties"
    file.write_text("bootstrap.servers=file:1\n")
    assert server("--command-config", str(file)) == ("file:1", str(file))
    assert server("--command-config", str(file), "-X", "bootstrap.servers=x:1") == ("x:1", "-X")
    assert server("-X", "bootstrap.servers=x:1", "-b", "b:1") == ("b:1", "-b")
    assert server("--bootstrap-servers", "b:2") == ("b:2", "-b")


def test_options_go_before_and_after(tidemill: Callable[..., Any]) -> None:
    before = tidemill(
        "-O", "json", "-X", "client.id=a", "-X", "acks=1", "config", "show", "-X", "client.id=b"
    )
    assert shown(before)["client.id"] == ("b", "-X")
    assert shown(before)["acks"] == ("1", "-X")


def test_the_default_profile(tidemill: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    tidemill("config", "set", "client.id", "p", "--profile", "prod")
    assert tidemill("config", "set", "profile", "prod").code == 0
    assert shown(tidemill("config", "show", "-O", "json"))["client.id"] == ("p", "profile prod")
    assert tidemill("config", "set", "profile", "no-such").code == 3
    tidemill("config", "set", "client.id", "t", "--profile", "test")
    monkeypatch.setenv("TIDEMILL_PROFILE", "test")
    assert shown(tidemill("config", "show", "-O", "json"))["client.id"] == ("t", "profile test")


def test_secrets_are_masked(tidemill: Callable[..., Any]) -> None:
    jaas = 'sasl.jaas.config=x.PlainLoginModule required username="a" password="hunter2";'
    result = tidemill("config", "show", "-X", "sasl.password=hunter2", "-X", jaas)
    assert "hunter2" not in result.out
    assert "sasl.password\t***\t-X" in result.lines


def test_saving_a_secret_in_clear_is_remarked(tidemill: Callable[..., Any]) -> None:
    assert "kept in clear" in tidemill("config", "set", "sasl.password", "x").err
    assert "kept in clear" not in tidemill("config", "set", "sasl.password", "${env:X}").err


def test_path(tidemill: Callable[..., Any], tmp_path: Path) -> None:
    assert tidemill("config", "path").lines == [str(tmp_path / "config.toml")]


def test_version(tidemill: Callable[..., Any]) -> None:
    from tidemill import __version__

    assert tidemill("version").lines == [f"tidemill {__version__}"]
    data = tidemill("version", "-O", "json").json()
    assert data["tidemill"] == __version__
    assert {"python", "pyspark", "confluent-kafka"} <= set(data)
