"""Settings of the Java client and of librdkafka mean the same thing."""

from pathlib import Path

import pytest

from tidemill.errors import UsageError
from tidemill.kafka.names import to_java, to_librdkafka

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


@pytest.mark.parametrize(
    ("java", "librdkafka"),
    [
        ({"security.protocol": "SASL_SSL"}, {"security.protocol": "SASL_SSL"}),
        ({"sasl.mechanisms": "PLAIN"}, {"sasl.mechanism": "PLAIN"}),
        (
            {
                "sasl.mechanism": "PLAIN",
                "sasl.jaas.config": f'{PLAIN} required username="ann" password="p\\"w\\\\d";',
            },
            {"sasl.mechanism": "PLAIN", "sasl.username": "ann", "sasl.password": 'p"w\\d'},
        ),
        (
            {
                "sasl.mechanism": "SCRAM-SHA-256",
                "sasl.jaas.config": f"{SCRAM} required username=ann password=pw;",
            },
            {"sasl.mechanism": "SCRAM-SHA-256", "sasl.username": "ann", "sasl.password": "pw"},
        ),
        (
            {
                "sasl.mechanism": "OAUTHBEARER",
                "sasl.jaas.config": 'OAuthBearerLoginModule required clientId="me" clientSecret="s" scope=x;',
            },
            {
                "sasl.mechanism": "OAUTHBEARER",
                "sasl.oauthbearer.method": "oidc",
                "sasl.oauthbearer.client.id": "me",
                "sasl.oauthbearer.client.secret": "s",
                "sasl.oauthbearer.scope": "x",
            },
        ),
        ({"ssl.truststore.type": "PEM", "ssl.truststore.location": "/ca"}, {"ssl.ca.location": "/ca"}),
        ({"ssl.truststore.location": "/ca.crt"}, {"ssl.ca.location": "/ca.crt"}),
        ({"ssl.truststore.certificates": "-----"}, {"ssl.ca.pem": "-----"}),
        (
            {"ssl.keystore.type": "PEM", "ssl.keystore.location": "/me.pem", "ssl.key.password": "x"},
            {"ssl.key.password": "x", "ssl.certificate.location": "/me.pem", "ssl.key.location": "/me.pem"},
        ),
        (
            {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": "/me.p12", "ssl.keystore.password": "x"},
            {"ssl.keystore.location": "/me.p12", "ssl.keystore.password": "x"},
        ),
        (
            {"ssl.keystore.certificate.chain": "c", "ssl.keystore.key": "k"},
            {"ssl.certificate.pem": "c", "ssl.key.pem": "k"},
        ),
        ({"ssl.endpoint.identification.algorithm": ""}, {"ssl.endpoint.identification.algorithm": "none"}),
        (
            {"fetch.max.wait.ms": "5", "max.request.size": "9"},
            {"fetch.wait.max.ms": "5", "message.max.bytes": "9"},
        ),
    ],
)
def test_java_names_become_librdkafka_names(java: dict[str, str], librdkafka: dict[str, str]) -> None:
    assert to_librdkafka(java) == (librdkafka, [])


def test_librdkafka_names_pass() -> None:
    settings = {"sasl.username": "ann", "ssl.ca.location": "/ca", "enable.partition.eof": "true"}
    assert to_librdkafka(settings) == (settings, [])


def test_what_only_java_knows_is_left_out() -> None:
    settings = {"key.serializer": "S", "max.poll.records": "5", "partitioner.class": "P", "linger.ms": "1"}
    assert to_librdkafka(settings) == (
        {"linger.ms": "1"},
        ["key.serializer", "max.poll.records", "partitioner.class"],
    )


@pytest.mark.parametrize("store", ["truststore", "keystore"])
def test_a_java_key_store_is_refused_with_the_way_to_convert_it(store: str) -> None:
    with pytest.raises(UsageError, match=r"only Java reads(.|\n)*keytool"):
        to_librdkafka({f"ssl.{store}.location": "/store.jks"})


def test_a_login_without_a_user_name_is_refused() -> None:
    with pytest.raises(UsageError, match="no username"):
        to_librdkafka({"sasl.jaas.config": "com.sun.security.auth.module.Krb5LoginModule required;"})


def test_librdkafka_settings_become_java_settings(tmp_path: Path) -> None:
    certificate, key = tmp_path / "me.pem", tmp_path / "me.key"
    certificate.write_text("chain")
    key.write_text("key")
    java = to_java(
        {
            "bootstrap.servers": "b:1",
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": "ann",
            "sasl.password": 'p"w',
            "ssl.ca.location": "/ca.pem",
            "ssl.certificate.location": str(certificate),
            "ssl.key.location": str(key),
            "ssl.endpoint.identification.algorithm": "none",
            "statistics.interval.ms": "1",
        }
    )
    assert java == {
        "bootstrap.servers": "b:1",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.jaas.config": f'{SCRAM} required username="ann" password="p\\"w";',
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": "/ca.pem",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": "chain",
        "ssl.keystore.key": "key",
        "ssl.endpoint.identification.algorithm": "",
    }


def test_a_login_survives_the_way_to_java_and_back() -> None:
    login = {"sasl.mechanism": "PLAIN", "sasl.username": 'a"b', "sasl.password": "c\\d;e f=g"}
    assert to_librdkafka(to_java(login))[0] == login


def test_java_settings_stay_java_settings() -> None:
    java = {"ssl.truststore.type": "JKS", "ssl.truststore.location": "/t.jks", "key.deserializer": "D"}
    assert to_java(java) == java
