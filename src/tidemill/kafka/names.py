"""Setting names of the two Kafka clients: Java's and librdkafka's, translated in both directions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from tidemill.errors import UsageError

_JAVA_TO_LIBRDKAFKA = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.request.size": "message.max.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "sasl.mechanisms": "sasl.mechanism",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.truststore.certificates": "ssl.ca.pem",
}
_LIBRDKAFKA_TO_JAVA = {
    "fetch.wait.max.ms": "fetch.max.wait.ms",
    "message.max.bytes": "max.request.size",
    "socket.receive.buffer.bytes": "receive.buffer.bytes",
    "socket.send.buffer.bytes": "send.buffer.bytes",
    "ssl.ca.pem": "ssl.truststore.certificates",
    "ssl.certificate.pem": "ssl.keystore.certificate.chain",
    "ssl.key.pem": "ssl.keystore.key",
}
# Settings that mean something to the Java client alone; librdkafka would refuse them.
_JAVA_ONLY = re.compile(
    r"(key|value)\.(de)?serializer|.*\.class(es)?|interceptor\..*|buffer\.memory|max\.block\.ms|max\.poll\.records"
    r"|default\.api\.timeout\.ms|metrics?\..*|ssl\.(protocol|provider|enabled\.protocols|secure\.random\.implementation)"
    r"|ssl\.(keymanager|trustmanager)\.algorithm|exclude\.internal\.topics|auto\.include\.jmx\.reporter|bootstrap\.controllers"
)
_LIBRDKAFKA_ONLY = re.compile(
    r"partitioner|log_level|log\..*|debug|statistics\..*|broker\..*|api\.version\..*|socket\..*|topic\..*|queue\..*"
    r"|queued\..*|enable\.(ssl|partition|gapless|random)\..*|sasl\.(username|password)|ssl\..*|sasl\.mechanism"
)
_JAAS_OPTION = re.compile(r'([\w.]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^\s;]+))')


def to_librdkafka(settings: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Translate settings of either dialect to librdkafka's; also returns the Java-only names left out.

    >>> to_librdkafka({"ssl.truststore.location": "/ca.pem", "key.serializer": "x"})
    ({'ssl.ca.location': '/ca.pem'}, ['key.serializer'])
    """
    out: dict[str, str] = {}
    ignored: list[str] = []
    stores = {name: value for name, value in settings.items() if _is_store(name)}
    for name, value in settings.items():
        if name in stores:
            continue
        if name == "sasl.jaas.config":
            out.update(_from_jaas(value, settings.get("sasl.mechanism", settings.get("sasl.mechanisms", ""))))
        elif name == "ssl.endpoint.identification.algorithm":
            out[name] = value or "none"
        elif is_java_only(name):
            ignored.append(name)
        else:
            out[_JAVA_TO_LIBRDKAFKA.get(name, name)] = value
    out.update(_from_stores(stores))
    return out, ignored


def is_java_only(name: str) -> bool:
    """Whether a setting means something to the Java client alone.

    >>> is_java_only("value.deserializer"), is_java_only("linger.ms")
    (True, False)
    """
    return _JAVA_ONLY.fullmatch(name) is not None


def to_java(settings: Mapping[str, str]) -> dict[str, str]:
    """Translate settings of either dialect to the Java client's, for Spark and the JVM.

    >>> to_java({"sasl.mechanism": "PLAIN", "sasl.username": "a", "sasl.password": "pw"})["sasl.jaas.config"]
    'org.apache.kafka.common.security.plain.PlainLoginModule required username="a" password="pw";'
    """
    plain = {
        name: value for name, value in settings.items() if not _is_store(name) and name != "sasl.jaas.config"
    }
    out = {name: value for name, value in settings.items() if name not in plain}
    for name, value in plain.items():
        if name in _LIBRDKAFKA_TO_JAVA:
            out[_LIBRDKAFKA_TO_JAVA[name]] = value
        elif name in _SAME_IN_JAVA or not _LIBRDKAFKA_ONLY.fullmatch(name):
            out[name] = value
    mechanism = settings.get("sasl.mechanism", settings.get("sasl.mechanisms"))
    if mechanism is not None:
        out.pop("sasl.mechanisms", None)
        out["sasl.mechanism"] = mechanism
        if "sasl.username" in settings and "sasl.jaas.config" not in out:
            out["sasl.jaas.config"] = _to_jaas(
                mechanism, settings["sasl.username"], settings.get("sasl.password", "")
            )
        if mechanism.upper() == "OAUTHBEARER":
            out.update(_to_oauth(settings, out))
    out.update(_to_stores(settings))
    if out.get("ssl.endpoint.identification.algorithm") == "none":
        out["ssl.endpoint.identification.algorithm"] = ""
    return out


_SAME_IN_JAVA = {"ssl.endpoint.identification.algorithm", "ssl.key.password", "ssl.cipher.suites"}
_STORE_SETTINGS = {
    f"ssl.{store}.{part}" for store in ("truststore", "keystore") for part in ("location", "type", "password")
}


def _is_store(name: str) -> bool:
    return name in _STORE_SETTINGS


def _from_stores(stores: Mapping[str, str]) -> dict[str, str]:
    out: dict[str, str] = {}
    trust = stores.get("ssl.truststore.location")
    if trust is not None:
        kind = _store_type(stores.get("ssl.truststore.type"), trust)
        if kind != "PEM":
            raise UsageError(
                f"the trust store `{trust}` is of type {kind}, which only Java reads",
                where="setting `ssl.truststore.location`",
                remedy="export the certificates as PEM (`keytool -exportcert -rfc -keystore ...`) and set"
                " ssl.truststore.type=PEM with the new file",
            )
        out["ssl.ca.location"] = trust
    key = stores.get("ssl.keystore.location")
    if key is not None:
        kind = _store_type(stores.get("ssl.keystore.type"), key)
        if kind == "PEM":
            out["ssl.certificate.location"] = out["ssl.key.location"] = key
        elif kind == "PKCS12":
            out["ssl.keystore.location"] = key
            if "ssl.keystore.password" in stores:
                out["ssl.keystore.password"] = stores["ssl.keystore.password"]
        else:
            raise UsageError(
                f"the key store `{key}` is of type {kind}, which only Java reads",
                where="setting `ssl.keystore.location`",
                remedy="convert it (`keytool -importkeystore -deststoretype PKCS12 ...`)"
                " and set ssl.keystore.type=PKCS12",
            )
    return out


def _store_type(given: str | None, location: str) -> str:
    if given:
        return given.upper()
    suffix = Path(location).suffix.lower()
    if suffix in {".pem", ".crt", ".cer"}:
        return "PEM"
    return "PKCS12" if suffix in {".p12", ".pfx"} else "JKS"


def _to_stores(settings: Mapping[str, str]) -> dict[str, str]:
    out: dict[str, str] = {}
    if "ssl.ca.location" in settings:
        out["ssl.truststore.type"] = "PEM"
        out["ssl.truststore.location"] = settings["ssl.ca.location"]
    elif "ssl.ca.pem" in settings or "ssl.truststore.certificates" in settings:
        out["ssl.truststore.type"] = "PEM"
    # Java wants chain and key in one file, so separate files are handed over as text.
    for setting, java in (
        ("ssl.certificate.location", "ssl.keystore.certificate.chain"),
        ("ssl.key.location", "ssl.keystore.key"),
    ):
        if setting in settings:
            out["ssl.keystore.type"] = "PEM"
            out[java] = Path(settings[setting]).expanduser().read_text(encoding="utf-8")
    if "ssl.certificate.pem" in settings or "ssl.keystore.certificate.chain" in settings:
        out["ssl.keystore.type"] = "PEM"
    if "ssl.keystore.location" in settings and "ssl.keystore.type" not in settings:
        out["ssl.keystore.type"] = _store_type(None, settings["ssl.keystore.location"])
    return out


def _from_jaas(jaas: str, mechanism: str) -> dict[str, str]:
    options = {
        match[1]: re.sub(r"\\(.)", r"\1", match[2]) if match[2] is not None else match[3]
        for match in _JAAS_OPTION.finditer(jaas)
    }
    if mechanism.upper() == "OAUTHBEARER" or "OAuthBearerLoginModule" in jaas:
        named = {_OAUTH_WORDS[word]: value for word, value in options.items() if word in _OAUTH_WORDS}
        return {
            "sasl.oauthbearer.method": "oidc",
            **{f"sasl.oauthbearer.{name}": value for name, value in named.items()},
        }
    if "username" in options:
        return {"sasl.username": options["username"], "sasl.password": options.get("password", "")}
    raise UsageError(
        "sasl.jaas.config has no username that a Python client could use",
        where="setting `sasl.jaas.config`",
        remedy="set sasl.username and sasl.password, or use the PLAIN, SCRAM or OAUTHBEARER login module",
    )


def _to_jaas(mechanism: str, username: str, password: str) -> str:
    module = (
        "org.apache.kafka.common.security.scram.ScramLoginModule"
        if mechanism.upper().startswith("SCRAM")
        else "org.apache.kafka.common.security.plain.PlainLoginModule"
    )
    return f"{module} required username={_quoted(username)} password={_quoted(password)};"


def _to_oauth(settings: Mapping[str, str], out: dict[str, str]) -> dict[str, str]:
    """Tokens by client id and secret, which librdkafka has as settings and Java in its login module."""
    java = "org.apache.kafka.common.security.oauthbearer"
    found = {}
    if "sasl.jaas.config" not in out:
        given = {
            word: settings[f"sasl.oauthbearer.{name}"]
            for word, name in _OAUTH_WORDS.items()
            if f"sasl.oauthbearer.{name}" in settings
        }
        words = "".join(f" {word}={_quoted(value)}" for word, value in given.items())
        found["sasl.jaas.config"] = f"{java}.OAuthBearerLoginModule required{words};"
    if "sasl.oauthbearer.token.endpoint.url" in settings:
        handler = "sasl.login.callback.handler.class"
        found[handler] = out.get(handler, f"{java}.OAuthBearerLoginCallbackHandler")
        # The default one wants a library that only brokers need.
        validator = "sasl.oauthbearer.jwt.validator.class"
        found[validator] = out.get(validator, f"{java}.ClientJwtValidator")
    for name in ("method", *_OAUTH_WORDS.values()):
        out.pop(f"sasl.oauthbearer.{name}", None)
    return found


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


_OAUTH_WORDS = {"clientId": "client.id", "clientSecret": "client.secret", "scope": "scope"}
