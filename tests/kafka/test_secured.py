"""Logins, certificates and rights of a secured broker."""

from __future__ import annotations

import importlib.util
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)
from confluent_kafka.cimpl import NewTopic

from tidemill.errors import SetupError, UsageError
from tidemill.kafka import certificates
from tidemill.kafka.embedded import Cluster
from tidemill.kafka.embedded.security import Security

DOORS = [
    ("sasl", None),
    ("tls", None),
    ("scram", "SCRAM-SHA-256"),
    ("scram", "SCRAM-SHA-512"),
]
QUICK = {"message.timeout.ms": 3000}


@pytest.fixture
def secured_topic(secure_kafka: Cluster) -> str:
    name = f"secured-{uuid4()}"
    admin = AdminClient(secure_kafka.client_config())
    admin.create_topics([NewTopic(name, 1)])[name].result(20)
    return name


@pytest.mark.parametrize(("door", "mechanism"), DOORS)
def test_user_with_rights_writes_and_reads(
    secure_kafka: Cluster, secured_topic: str, write: Callable, read: Callable, door: str, mechanism: str
) -> None:
    config = secure_kafka.client_config("alice", door, mechanism)
    write(config, secured_topic, ["hello"], **QUICK)
    assert [message.value() for message in read(config, secured_topic)] == [b"hello"]


@pytest.mark.parametrize(("door", "mechanism"), DOORS)
def test_user_without_rights_is_denied(
    secure_kafka: Cluster, secured_topic: str, write: Callable, door: str, mechanism: str
) -> None:
    with pytest.raises(AssertionError, match="TOPIC_AUTHORIZATION_FAILED"):
        write(secure_kafka.client_config("bob", door, mechanism), secured_topic, ["no"], **QUICK)


def test_rights_can_be_given(
    secure_kafka: Cluster, secured_topic: str, write: Callable, read: Callable
) -> None:
    admin = AdminClient(secure_kafka.client_config())
    rights = [
        AclBinding(
            ResourceType.TOPIC,
            secured_topic,
            ResourcePatternType.LITERAL,
            "User:bob",
            "*",
            operation,
            AclPermissionType.ALLOW,
        )
        for operation in (AclOperation.WRITE, AclOperation.DESCRIBE)
    ]
    for future in admin.create_acls(rights).values():
        future.result(20)
    write(secure_kafka.client_config("bob"), secured_topic, ["now"], **QUICK)
    found = read(secure_kafka.client_config("alice"), secured_topic)
    assert [message.value() for message in found] == [b"now"]


def test_nameless_client_has_no_rights(secure_kafka: Cluster, secured_topic: str, write: Callable) -> None:
    config = {"bootstrap.servers": secure_kafka.bootstrap_servers}
    with pytest.raises(AssertionError, match="TOPIC_AUTHORIZATION_FAILED"):
        write(config, secured_topic, ["no"], **QUICK)


@pytest.mark.parametrize(("door", "mechanism"), [DOORS[0], DOORS[2]])
def test_wrong_password_is_refused(
    secure_kafka: Cluster, secured_topic: str, write: Callable, door: str, mechanism: str
) -> None:
    errors: list[str] = []
    config = {
        **secure_kafka.client_config("alice", door, mechanism),
        "sasl.password": "guess",
        "error_cb": lambda error: errors.append(error.name()),
    }
    with pytest.raises(AssertionError, match="not acknowledged"):
        write(config, secured_topic, ["no"], **QUICK)
    assert "_AUTHENTICATION" in errors


@pytest.mark.parametrize("door", ["tls", "scram"])
def test_other_ca_is_not_trusted(
    secure_kafka: Cluster, secured_topic: str, write: Callable, tmp_path: Path, door: str
) -> None:
    certificates.make_certificates(tmp_path, ["alice"])
    errors: list[str] = []
    config = {
        **secure_kafka.client_config("alice", door),
        "ssl.ca.location": str(tmp_path / "ca.pem"),
        "error_cb": lambda error: errors.append(error.name()),
    }
    with pytest.raises(AssertionError, match="not acknowledged"):
        write(config, secured_topic, ["no"], **QUICK)
    assert "_SSL" in errors


def test_secrets_are_private(secure_kafka: Cluster) -> None:
    root = secure_kafka.directory
    secret_files = [root / "node-1" / "server.properties", root / "security" / "passwords.json"]
    secret_files += (root / "security").glob("*.key")
    secret_files += (root / "security").glob("*-keystore.pem")
    assert len(secret_files) == 10
    assert {file.stat().st_mode & 0o777 for file in secret_files} == {0o600}
    assert (root / "security").stat().st_mode & 0o777 == 0o700
    command = Path(f"/proc/{secure_kafka.pids[1]}/cmdline").read_text()
    assert not any(password in command for password in secure_kafka.passwords.values())


def test_java_clients_get_the_same_logins_in_their_words(secure_kafka: Cluster) -> None:
    config = secure_kafka.java_client_config("alice", "scram", "SCRAM-SHA-512")
    assert config["security.protocol"] == "SASL_SSL"
    assert config["ssl.truststore.type"] == "PEM"
    assert f'password="{secure_kafka.passwords["alice"]}"' in config["sasl.jaas.config"]
    assert "ssl.keystore.location" in secure_kafka.java_client_config("alice", "tls")


def test_profiles_open_only_their_doors(tmp_path: Path) -> None:
    doors = {
        profile: Security.prepare(profile, tmp_path).doors
        for profile in (None, "sasl", "tls", "scram", "all")
    }
    assert doors[None] == ("plaintext",)
    assert doors["sasl"] == ("plaintext", "sasl")
    assert doors["tls"] == ("plaintext", "sasl", "tls")
    assert doors["all"] == ("plaintext", "sasl", "tls", "scram")
    with pytest.raises(UsageError, match="no security profile `none`"):
        Security.prepare("none", tmp_path)
    with pytest.raises(UsageError, match="no `tls` listener"):
        Security.prepare("sasl", tmp_path).client_config("tls", "alice")
    with pytest.raises(UsageError, match="no user `mallory`"):
        Security.prepare("sasl", tmp_path).client_config("sasl", "mallory")


@pytest.mark.parametrize("maker", ["openssl", "cryptography"])
def test_certificates_of_both_makers_serve_a_tls_context(tmp_path: Path, maker: str) -> None:
    if maker == "cryptography" and importlib.util.find_spec("cryptography") is None:
        pytest.skip("cryptography is not installed")
    certificates.make_certificates(tmp_path, ["alice"], maker)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(tmp_path / "server.pem", tmp_path / "server.key")
    server.load_cert_chain(tmp_path / "alice-keystore.pem")
    ssl.create_default_context(cafile=str(tmp_path / "ca.pem"))
    text = subprocess.run(
        ["openssl", "verify", "-CAfile", "ca.pem", "-verify_ip", "127.0.0.1", "server.pem"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert text.stdout == "server.pem: OK\n", text.stderr
    assert not (tmp_path / "ca.key").exists()


def test_error_when_nothing_can_make_certificates(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SetupError, match="neither an openssl command nor the cryptography package"):
        certificates.make_certificates(tmp_path / "made", ["alice"])
