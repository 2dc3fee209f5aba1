"""Profiles: saved, found again, and the rest of the file left alone."""

import stat
from pathlib import Path

import pytest

from tidemill.errors import NotFound, UsageError
from tidemill.kafka.profiles import config_path, default_profile, load_profile, profile_names, set_value


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "sub" / "config.toml"


def test_where_the_file_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIDEMILL_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", "/x")
    assert config_path() == Path("/x/tidemill/config.toml")
    monkeypatch.setenv("TIDEMILL_CONFIG", "/y.toml")
    assert config_path() == Path("/y.toml")


def test_a_setting_is_saved_and_found(config: Path) -> None:
    set_value("bootstrap.servers", "a:1", profile="prod", path=config)
    set_value("sasl.password", '${env:PW} "quoted" \\ ü', profile="prod", path=config)
    set_value("bootstrap.servers", "b:1", profile="test", path=config)
    set_value("profile", "prod", profile=None, path=config)
    set_value("bootstrap.servers", "a:2", profile="prod", path=config)
    assert dict(load_profile("prod", config)) == {
        "bootstrap.servers": "a:2",
        "sasl.password": '${env:PW} "quoted" \\ ü',
    }
    assert profile_names(config) == ["prod", "test"]
    assert default_profile(config) == "prod"
    assert stat.S_IMODE(config.stat().st_mode) == 0o600


def test_comments_and_order_survive(config: Path) -> None:
    config.parent.mkdir()
    config.write_text(
        '# mine\n[profiles.a]\nbootstrap.servers = "a:1" # here\n\n# next\n[profiles.b]\nx = 1\n'
    )
    set_value("client.id", "me", profile="a", path=config)
    set_value("profile", "a", profile=None, path=config)
    assert config.read_text().splitlines() == [
        'profile = "a"',
        "# mine",
        "[profiles.a]",
        'bootstrap.servers = "a:1" # here',
        '"client.id" = "me"',
        "",
        "# next",
        "[profiles.b]",
        "x = 1",
    ]
    assert dict(load_profile("a", config)) == {"bootstrap.servers": "a:1", "client.id": "me"}


def test_an_unknown_profile_is_told_with_the_known_ones(config: Path) -> None:
    set_value("a", "b", profile="prod", path=config)
    with pytest.raises(NotFound, match=r"no profile `pord`; known: `prod`"):
        load_profile("pord", config)


def test_a_broken_file_is_told_with_its_line(config: Path) -> None:
    config.parent.mkdir()
    config.write_text("[profiles\n")
    with pytest.raises(UsageError, match=r"not valid TOML.*line 1"):
        load_profile("a", config)


def test_a_name_with_a_dot_is_no_profile(config: Path) -> None:
    with pytest.raises(UsageError):
        set_value("a", "b", profile="a.b", path=config)
