"""Settings: files, placeholders, and secrets that stay out of sight."""

import pickle
from pathlib import Path

import pytest

from tidemill.errors import NotFound, UsageError
from tidemill.kafka.clients import client_config, consumer_config, producer_config
from tidemill.kafka.properties import parse_properties
from tidemill.kafka.secrets import Secret, is_secret_name
from tidemill.kafka.settings import Settings


def test_properties_are_read_as_java_reads_them() -> None:
    text = "# no\n! no\n\n a.b = c d \\\n   e\nkey:value\nspace value\nu=\\u00e4\\n\nempty=\npath=C\\:\\\\x\n"
    assert parse_properties(text) == {
        "a.b": "c d e",
        "key": "value",
        "space": "value",
        "u": "ä\n",
        "empty": "",
        "path": "C:\\x",
    }


def test_a_missing_file_is_named() -> None:
    with pytest.raises(NotFound, match=r"/no/such\.properties"):
        Settings.from_file(Path("/no/such.properties"))


def test_later_settings_win() -> None:
    merged = Settings.of({"a": 1, "b": True}).over(Settings.of({"a": 0, "c": 2}))
    assert dict(merged) == {"a": "1", "c": "2", "b": "true"}


def test_placeholders_are_resolved_last(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KAFKA_USER", "ann")
    (tmp_path / "password").write_text("pw\n")
    (tmp_path / "login.properties").write_text("secret=s3\n")
    settings = Settings.of(
        {
            "sasl.username": "${env:KAFKA_USER}-1",
            "sasl.password": f"${{file:{tmp_path}/password}}",
            "ssl.key.password": f"${{file:{tmp_path}/login.properties:secret}}",
            "ssl.key.pem": f"${{dir:{tmp_path}:password}}",
        }
    )
    assert settings["sasl.username"] == "${env:KAFKA_USER}-1"
    resolved = settings.librdkafka()
    assert resolved["sasl.username"] == "ann-1"
    assert resolved["sasl.password"] == resolved["ssl.key.pem"] == "pw"
    assert resolved["ssl.key.password"] == "s3"


def test_an_unset_variable_is_named_with_its_setting() -> None:
    with pytest.raises(UsageError, match=r"`TIDEMILL_NOT_SET` is not set \(setting `sasl.password`\)"):
        Settings.of({"sasl.password": "${env:TIDEMILL_NOT_SET}"}).librdkafka()


@pytest.mark.parametrize(
    "name",
    [
        "sasl.password",
        "ssl.key.password",
        "ssl.keystore.password",
        "sasl.jaas.config",
        "ssl.key.pem",
        "ssl.keystore.key",
        "sasl.oauthbearer.client.secret",
        "basic.auth.credentials",
    ],
)
def test_secrets_are_never_shown(name: str) -> None:
    settings = Settings.of({name: "hunter2", "client.id": "me"})
    assert is_secret_name(name)
    assert "hunter2" not in repr(settings) + repr(settings.entries()) + str(settings.shown())
    assert settings.redact("login with hunter2 failed") == "login with *** failed"


@pytest.mark.parametrize("name", ["ssl.ca.location", "sasl.username", "sasl.oauthbearer.token.endpoint.url"])
def test_what_is_no_secret_is_shown(name: str) -> None:
    assert Settings.of({name: "x"}).shown() == {name: "x"}


def test_a_secret_shows_itself_only_when_asked() -> None:
    secret = Secret("hunter2")
    assert f"{secret} {secret!r} {secret:>5}" == "*** Secret(***)   ***"
    assert secret.reveal() == "hunter2"
    with pytest.raises(TypeError):
        pickle.dumps(secret)


def test_every_producer_partitions_like_java() -> None:
    assert producer_config(Settings.of({"partitioner": "random"}))["partitioner"] == "murmur2_random"
    assert producer_config(Settings())["enable.idempotence"] == "true"
    assert "enable.idempotence" not in producer_config(Settings.of({"acks": "1"}))


def test_a_reader_without_a_group_commits_nothing() -> None:
    assert consumer_config(Settings())["enable.auto.commit"] == "false"
    assert consumer_config(Settings(), group="g")["group.id"] == "g"
    assert "enable.auto.commit" not in consumer_config(Settings(), group="g")
    assert consumer_config(Settings(), group="g")["enable.auto.offset.store"] == "false"


def test_the_clients_log_is_silent_unless_asked() -> None:
    assert client_config(Settings())["log_level"] == 2
    assert "log_level" not in client_config(Settings(), verbose=True)
