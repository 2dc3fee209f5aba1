"""Secured listeners of an embedded cluster: who may log in where, and what each kind of client must set."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from tidemill.errors import SetupError, UsageError
from tidemill.kafka.certificates import make_certificates
from tidemill.kafka.private import write_private

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

Profile = Literal["sasl", "tls", "scram", "all"]
ClientConfig = dict[str, str | int | float | bool]
Door = Literal["plaintext", "sasl", "tls", "scram"]
"""A listener: SASL PLAIN without encryption, TLS with client certificates, SCRAM over TLS."""

ADMIN = "admin"
WORKER = "alice"
STRANGER = "bob"
USERS = (ADMIN, WORKER, STRANGER)
"""`admin` may do everything, `alice` may use every topic, group and transactional id, `bob` has no rights."""

LISTENER_PROTOCOLS: Mapping[Door, str] = {
    "plaintext": "PLAINTEXT",
    "sasl": "SASL_PLAINTEXT",
    "tls": "SSL",
    "scram": "SASL_SSL",
}
SCRAM_MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")


@dataclass(frozen=True)
class Security:
    """The secrets of one cluster. Without a profile there are none, and one open listener."""

    profile: Profile | None
    directory: Path
    passwords: Mapping[str, str]

    @classmethod
    def prepare(cls, profile: Profile | None, directory: Path) -> Security:
        """Those found in `directory`, or new ones."""
        if profile is None:
            return cls(None, directory, {})
        if profile not in get_args(Profile):
            raise UsageError(
                f"there is no security profile `{profile}`",
                remedy=f"use one of {', '.join(get_args(Profile))}",
            )
        kept = directory / "passwords.json"
        if not kept.exists():
            write_private(kept, json.dumps({user: secrets.token_urlsafe(18) for user in USERS}))
        passwords = json.loads(kept.read_text(encoding="utf-8"))
        if profile != "sasl" and not (directory / "server-keystore.pem").exists():
            make_certificates(directory, USERS)
        return cls(profile, directory, passwords)

    @property
    def doors(self) -> tuple[Door, ...]:
        """The listeners for clients; behind a profile, who comes through the plaintext one has no rights."""
        if self.profile is None:
            return ("plaintext",)
        if self.profile == "all":
            return ("plaintext", "sasl", "tls", "scram")
        # Brokers talk to each other through the SASL listener, so it is always there.
        extra: tuple[Door, ...] = () if self.profile == "sasl" else (self.profile,)
        return ("plaintext", "sasl", *extra)

    @property
    def default_door(self) -> Door:
        if self.profile is None:
            return "plaintext"
        return "scram" if self.profile == "all" else self.profile

    def server_properties(self) -> dict[str, str]:
        """What a broker needs to know; to be kept in a private file."""
        if self.profile is None:
            return {}
        logins = " ".join(f'user_{user}="{password}"' for user, password in self.passwords.items())
        plain = f'{_PLAIN} required username="{ADMIN}" password="{self.passwords[ADMIN]}" {logins};'
        found = {
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": f"User:{ADMIN}",
            "allow.everyone.if.no.acl.found": "false",
            "sasl.mechanism.inter.broker.protocol": "PLAIN",
            "sasl.mechanism.controller.protocol": "PLAIN",
        }
        for listener in ("sasl", "controller"):
            found[f"listener.name.{listener}.sasl.enabled.mechanisms"] = "PLAIN"
            found[f"listener.name.{listener}.plain.sasl.jaas.config"] = plain
        for listener in ("tls", "scram"):
            if listener in self.doors:
                prefix = f"listener.name.{listener}.ssl"
                found |= {
                    f"{prefix}.keystore.type": "PEM",
                    f"{prefix}.keystore.location": str(self.directory / "server-keystore.pem"),
                    f"{prefix}.truststore.type": "PEM",
                    f"{prefix}.truststore.location": str(self.directory / "ca.pem"),
                    f"{prefix}.client.auth": "requested" if listener == "tls" else "none",
                }
        found["listener.name.tls.ssl.principal.mapping.rules"] = "RULE:^CN=([^,]+).*$/$1/,DEFAULT"
        if "scram" in self.doors:
            found["listener.name.scram.sasl.enabled.mechanisms"] = ",".join(SCRAM_MECHANISMS)
            for mechanism in SCRAM_MECHANISMS:
                key = f"listener.name.scram.{mechanism.lower()}.sasl.jaas.config"
                found[key] = f"{_SCRAM} required;"
        return found

    def client_config(self, door: Door, user: str, mechanism: str | None = None) -> ClientConfig:
        """The settings of a librdkafka client, without its bootstrap servers."""
        self._check(door, user)
        config: ClientConfig = {"security.protocol": LISTENER_PROTOCOLS[door]}
        if door in ("tls", "scram"):
            config["ssl.ca.location"] = str(self.directory / "ca.pem")
        if door == "tls":
            config["ssl.certificate.location"] = str(self.directory / f"{user}.pem")
            config["ssl.key.location"] = str(self.directory / f"{user}.key")
        if door in ("sasl", "scram"):
            config["sasl.mechanism"] = self._mechanism(door, mechanism)
            config["sasl.username"] = user
            config["sasl.password"] = self.passwords[user]
        return config

    def java_client_config(self, door: Door, user: str, mechanism: str | None = None) -> dict[str, str]:
        """The settings of a JVM client, without its bootstrap servers."""
        self._check(door, user)
        config = {"security.protocol": LISTENER_PROTOCOLS[door]}
        if door in ("tls", "scram"):
            config["ssl.truststore.type"] = "PEM"
            config["ssl.truststore.location"] = str(self.directory / "ca.pem")
        if door == "tls":
            config["ssl.keystore.type"] = "PEM"
            config["ssl.keystore.location"] = str(self.directory / f"{user}-keystore.pem")
        if door in ("sasl", "scram"):
            module = _PLAIN if door == "sasl" else _SCRAM
            config["sasl.mechanism"] = self._mechanism(door, mechanism)
            config["sasl.jaas.config"] = (
                f'{module} required username="{user}" password="{self.passwords[user]}";'
            )
        return config

    def grant(self, admin: AdminClient) -> None:
        """Give the users their rights, and SCRAM credentials where those are used."""
        for future in admin.create_acls(_acls_of_worker()).values():
            future.result(30)
        if "scram" not in self.doors:
            return
        kafka = _admin_names()
        for mechanism in SCRAM_MECHANISMS:  # one request each: a user may occur only once in a request
            number = getattr(kafka.ScramMechanism, mechanism.replace("-", "_"))
            # 4096 rounds are the least a broker accepts.
            how = kafka.ScramCredentialInfo(number, 4096)
            upsertions = [
                kafka.UserScramCredentialUpsertion(user, how, password.encode())
                for user, password in self.passwords.items()
            ]
            for future in admin.alter_user_scram_credentials(upsertions).values():
                future.result(30)

    def _check(self, door: Door, user: str) -> None:
        if door not in self.doors:
            raise UsageError(
                f"this cluster has no `{door}` listener", remedy=f"use one of {', '.join(self.doors)}"
            )
        if door != "plaintext" and user not in USERS:
            raise UsageError(f"this cluster has no user `{user}`", remedy=f"use one of {', '.join(USERS)}")

    @staticmethod
    def _mechanism(door: Door, wanted: str | None) -> str:
        allowed = ("PLAIN",) if door == "sasl" else SCRAM_MECHANISMS
        if wanted is None:
            return allowed[0]
        if wanted not in allowed:
            raise SetupError(
                f"the `{door}` listener does not speak {wanted}", remedy=f"use {' or '.join(allowed)}"
            )
        return wanted


_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


def _admin_names() -> Any:
    # confluent_kafka re-exports these names without declaring them, so that type checkers refuse them.
    return import_module("confluent_kafka.admin")


def _acls_of_worker() -> list[Any]:
    kafka = _admin_names()

    def allow(kind: Any, name: str, operation: Any) -> Any:
        literal, permission = kafka.ResourcePatternType.LITERAL, kafka.AclPermissionType.ALLOW
        return kafka.AclBinding(kind, name, literal, f"User:{WORKER}", "*", operation, permission)

    kinds = (kafka.ResourceType.TOPIC, kafka.ResourceType.GROUP, kafka.ResourceType.TRANSACTIONAL_ID)
    operations = kafka.AclOperation
    cluster = (operations.CREATE, operations.DESCRIBE, operations.IDEMPOTENT_WRITE)
    return [
        *(allow(kind, "*", operations.ALL) for kind in kinds),
        *(allow(kafka.ResourceType.BROKER, "kafka-cluster", operation) for operation in cluster),
    ]
