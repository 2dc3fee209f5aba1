"""Apps on a secured broker: every way in, what is refused, and secrets that are nowhere to be read."""

from __future__ import annotations

import base64
import json
import threading
import uuid
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

from runtime.broker import Broker, until
from runtime.topologies import echo
from tidemill.engine.session import allow_urls
from tidemill.errors import AccessDenied
from tidemill.kafka.admin import Admin
from tidemill.kafka.settings import Settings
from tidemill.runtime import App, State
from tidemill.runtime.layers import load_config

DOORS = (
    ("sasl", None),
    ("tls", None),
    pytest.param("scram", "SCRAM-SHA-256", marks=pytest.mark.slow),
    ("scram", "SCRAM-SHA-512"),
)


@pytest.fixture(scope="module")
def secured(secure_kafka) -> Broker:
    return Broker(secure_kafka)


@pytest.fixture
def make(secured, spark, tmp_path):
    """Apps that log in as somebody."""
    made: list[App] = []

    def make_(source: str, target: str, client: dict, application_id: str = "", **settings) -> App:
        given = dict(client)
        servers = given.pop("bootstrap.servers")
        app = App(
            application_id or f"secured-{source}",
            echo(source, target),
            bootstrap_servers=servers,
            config=given,
            spark=spark,
            tasks=1,
            state_dir=tmp_path,
            restart_limit=1,
            **settings,
        )
        made.append(app)
        return app

    yield make_
    for app in made:
        app.stop(10)


def topics(secured: Broker, *names: str) -> list[str]:
    unique = [f"{name}-{uuid.uuid4().hex[:8]}" for name in names]
    for name in unique:
        secured.admin.create(name, partitions=1)
    return unique


@pytest.mark.parametrize(("door", "mechanism"), DOORS)
def test_app_writes_exactly_once_through_every_door(secured, make, tmp_path, spark, door, mechanism):
    source, target = topics(secured, "in", "out")
    secured.produce(source, [{"value": "psst"}])
    java = door == "tls"  # one of them in Java's dialect
    cluster = secured.cluster
    client = (cluster.java_client_config if java else cluster.client_config)("alice", door, mechanism)
    app = make(source, target, client)
    app.run(until="now")
    assert [read.value for read in secured.read(target)] == [b"psst"]
    query = app._watcher._query._query
    shown = [
        repr(app),
        repr(app.config),
        str(app.metadata()),
        app.explain(),
        app.describe(),
        str(query.lastProgress()),
        str(query.streamingQuery().lastExecution().toString()),
        str(spark.sparkContext.getConf().getAll()),
        *(path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file()),
    ]
    assert not [text for text in shown if cluster.passwords["alice"] in text]


def test_wrong_password_is_refused_at_once(secured, make):
    client = {**secured.cluster.client_config("alice"), "sasl.password": "open-sesame"}
    app = make("in", "out", client, "intruder")
    with pytest.raises(AccessDenied, match="refused the login") as refused:
        app.start()
    assert "open-sesame" not in str(refused.value)
    assert app.state is State.ERROR


@pytest.mark.parametrize(
    ("missing", "resource"),
    [
        ("read", "topic `{source}`"),
        ("write", "topic `{target}`"),
        ("transaction", "transactional id `{app}-{source}-0`"),
        ("group", "group `{app}`"),
        ("markers", "group `{app}-markers`"),
    ],
)
def test_missing_right_is_named(secured, make, missing, resource):
    source, target = topics(secured, "in", "out")
    app_id = f"denied-{missing}-{uuid.uuid4().hex[:8]}"
    secured.admin.create(f"{app_id}-markers", partitions=2)
    secured.produce(source, [{"value": "x"}])
    topic, group, ids = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID
    rights = {
        "describe": (topic, source, AclOperation.DESCRIBE),
        "read": (topic, source, AclOperation.READ),
        "seen": (topic, target, AclOperation.DESCRIBE),
        "write": (topic, target, AclOperation.WRITE),
        "marker-topic": (topic, f"{app_id}-markers", AclOperation.READ),
        "group": (group, app_id, AclOperation.READ),
        "markers": (group, f"{app_id}-markers", AclOperation.READ),
        "transaction": (ids, f"{app_id}-{source}-0", AclOperation.WRITE),
    }
    _allow(secured, [right for name, right in rights.items() if name != missing])
    app = make(source, target, secured.cluster.client_config("bob"), app_id)
    with pytest.raises(AccessDenied) as denied:
        app.run(until="now")
    assert "not authorised" in str(denied.value)
    assert resource.format(source=source, target=target, app=app_id) in str(denied.value)
    assert "Remedy: " in str(denied.value)
    assert "\tat " not in str(denied.value)
    if missing != "group":
        return
    _allow(secured, [rights["group"]])
    app.run(until="now")
    assert [read.value for read in secured.read(target)] == [b"x"], "these rights are all an app needs"


def _allow(secured: Broker, rights) -> None:
    # Brokers learn of rights one after the other, a moment later: a last one tells when all are known.
    (last,) = topics(secured, "last")
    bindings = [
        AclBinding(
            kind, name, ResourcePatternType.LITERAL, "User:bob", "*", operation, AclPermissionType.ALLOW
        )
        for kind, name, operation in (*rights, (ResourceType.TOPIC, last, AclOperation.DESCRIBE))
    ]
    for binding in bindings:
        for future in secured.admin.raw.create_acls([binding]).values():
            future.result(10)
    bob = Admin(Settings.of(secured.cluster.client_config("bob")))
    until(lambda: _may_see(bob, last))


def _may_see(admin: Admin, topic: str) -> bool:
    try:
        return admin.exists(topic)
    except AccessDenied:
        return False


class Tokens(BaseHTTPRequestHandler):
    """Gives a token to who shows the right secret."""

    asked: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        self.asked.append(self.headers["Authorization"])
        self.rfile.read(int(self.headers["Content-Length"]))
        part = [{"alg": "none"}, {"sub": "app", "iat": 1, "exp": 2_000_000_000, "scope": "kafka"}]
        head, body = (base64.urlsafe_b64encode(json.dumps(p).encode()).rstrip(b"=").decode() for p in part)
        answer = json.dumps({"access_token": f"{head}.{body}.c2ln", "expires_in": 3600}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args: object) -> None:
        pass


def test_oauth_settings_reach_every_client(spark):
    server = HTTPServer(("127.0.0.1", 0), Tokens)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/token"
    given = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.client.id": "app",
        "sasl.oauthbearer.client.secret": "hunter2",
        "sasl.oauthbearer.token.endpoint.url": url,
    }
    config = load_config("app", {"config": given}, environ={})
    assert "hunter2" not in repr(config)
    jvm = spark._jvm
    allow_urls(spark, config.consumer_client())
    try:
        for client in (config.consumer_client(), config.producer_client()):
            Tokens.asked.clear()
            settings = jvm.java.util.HashMap()
            for name, value in client.items():
                settings.put(name, value)
            # A login is the first thing a Java client does.
            jvm.org.apache.kafka.clients.admin.Admin.create(settings).close()
            expected = base64.b64encode(b"app:hunter2").decode()
            assert Tokens.asked == [f"Basic {expected}"]
    finally:
        server.shutdown()
    librdkafka = config.admin_settings().librdkafka()
    assert librdkafka["sasl.oauthbearer.client.secret"] == "hunter2"
    assert librdkafka["sasl.oauthbearer.token.endpoint.url"] == url
