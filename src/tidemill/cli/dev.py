"""`tidemill dev`: a real Kafka on this machine, started and stopped with one word."""

from __future__ import annotations

import signal
import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidemill.cli.help import Command, group
from tidemill.cli.options import session
from tidemill.cli.output import Column
from tidemill.cli.session import Session
from tidemill.errors import NotFound, TidemillError

if TYPE_CHECKING:
    from tidemill.kafka.embedded import Cluster

app = group("dev", "A real Kafka on this machine: start, stop, look at.")

Name = Annotated[
    str, typer.Option("--name", metavar="NAME", help="Name of the cluster; several can run at once.")
]


class Secure(StrEnum):
    """How clients log in."""

    tls = "tls"
    sasl = "sasl"
    scram = "scram"
    all = "all"


@app.command("up", cls=Command)
@session
def up(
    session: Session,
    brokers: Annotated[
        int | None,
        typer.Option("--brokers", metavar="N", min=1, help="How many brokers; as many as before, or one."),
    ] = None,
    port: Annotated[
        int,
        typer.Option(
            "--port", metavar="P", min=0, max=65535, help="Port of the first broker; 0 takes free ones."
        ),
    ] = 9092,
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", metavar="DIR", help="Where records are kept between runs.")
    ] = None,
    secure: Annotated[
        Secure | None, typer.Option("--secure", help="Listeners with login, and access rights, to try them.")
    ] = None,
    detach: Annotated[bool, typer.Option("-d", "--detach", help="Return, and let it run on.")] = False,
    name: Name = "default",
) -> None:
    """Start a Kafka cluster.

    It runs until Ctrl-C, or with --detach until `tidemill dev down`; its records stay. Other commands find
    it by themselves, login included.

    Example:

        $ tidemill dev up
        $ tidemill dev up --brokers 3 --detach
        $ tidemill dev up --secure all --name locked --port 0
    """
    from tidemill.kafka.embedded import dev

    if not detach:
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _interrupt)
    cluster = dev.dev_up(
        name,
        brokers=brokers,
        port=port or None,
        secure=None if secure is None else secure.value,
        data_dir=data_dir,
        detach=detach,
    )
    try:
        _welcome(session, cluster, dev.dev_status(name), detach=detach)
        if not detach:
            _hold(cluster)
    except KeyboardInterrupt:
        session.out.note("Stopping...")
    finally:
        if not detach:
            cluster.stop()
    if not detach:
        session.out.note(f"Stopped; the records stay in {cluster.directory}.")


@app.command("down", cls=Command)
@session
def down(
    session: Session,
    purge: Annotated[bool, typer.Option("--purge", help="Delete its records too.")] = False,
    name: Name = "default",
) -> None:
    """Stop a cluster.

    Example:

        $ tidemill dev down
        $ tidemill dev down --purge --yes
    """
    from tidemill.kafka.embedded import dev

    if purge:
        status = dev.dev_status(name)
        if status.state != "absent":
            session.confirm(f"Delete all records of the dev cluster {name} in {status.directory}?")
    before = dev.dev_down(name, purge=purge)
    stopped = "Stopped" if before.running else "Was stopped"
    session.out.note(
        f"{stopped} and purged." if purge else f"Stopped; the records stay in {before.directory}."
    )


@app.command("status", cls=Command)
@session
def status(
    session: Session,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="Only this cluster.")] = None,
) -> None:
    """Show the clusters of this machine; exit code 3 if none runs.

    Example:

        $ tidemill dev status
        $ tidemill dev status -O json
    """
    from tidemill.kafka.embedded import dev

    found = [dev.dev_status(one) for one in ([name] if name else dev.dev_names())]
    rows = [_row(one) for one in found if one.state != "absent"]
    columns = [
        Column("name", "NAME"),
        Column("state", "STATE"),
        Column("bootstrap_servers", "BOOTSTRAP"),
        Column("brokers", "BROKERS", right=True, show=lambda brokers: str(len(brokers))),
        Column("secure", "SECURE"),
        Column("memory", "MEMORY", right=True, show=lambda size: f"{size >> 20} MiB" if size else "-"),
        Column("pids", "PIDS", wide=True),
        Column("directory", "DIRECTORY", wide=True),
    ]
    session.out.rows(columns, rows)
    if not any(one.running for one in found):
        raise NotFound("no dev cluster runs", remedy="`tidemill dev up` starts one")


@app.command("logs", cls=Command)
@session
def logs(
    session: Session,
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Go on with what is written.")] = False,
    lines: Annotated[
        int, typer.Option("-n", "--lines", metavar="N", min=0, help="How many lines back.")
    ] = 20,
    name: Name = "default",
) -> None:
    """Show the brokers' logs.

    Example:

        $ tidemill dev logs -n 100
        $ tidemill dev logs -f
    """
    from tidemill.cli.tail import follow_files, last_lines
    from tidemill.kafka.embedded import dev

    files = dev.dev_log_files(name)
    if not files:
        raise NotFound(f"the dev cluster `{name}` has no logs", remedy="`tidemill dev up` starts it")
    labels = {file: f"broker {number} | " if len(files) > 1 else "" for number, file in enumerate(files, 1)}
    for file, label in labels.items():
        for line in last_lines(file, lines):
            session.out.line(label + line)
    if follow:
        for file, line in follow_files(files):
            session.out.line(labels[file] + line)


@app.command("fetch", cls=Command)
@session
def fetch(
    session: Session,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="SET", help="Sets of jars to fetch; all if none is named."),
    ] = None,
) -> None:
    """Download and verify all jars now, for images and for working offline.

    Without names it also makes the class archives, which halve the start of Kafka and of Spark.

    Example:

        $ tidemill dev fetch
    """
    from tidemill.kafka import jars

    wanted = names or list(jars.jar_set_names())
    found = jars.fetch(wanted)
    rows = [
        {
            "set": name,
            "files": len(found[name]),
            "bytes": sum(file.stat().st_size for file in found[name]),
            "purpose": jars.jar_set(name).purpose,
        }
        for name in wanted
    ]
    columns = [
        Column("set", "SET"),
        Column("files", "FILES", right=True),
        Column("bytes", "SIZE", right=True, show=lambda size: f"{size / (1 << 20):.1f} MiB"),
        Column("purpose", "PURPOSE"),
    ]
    session.out.rows(columns, rows)
    if not names:
        _make_archives(session)


def _make_archives(session: Session) -> None:
    from tidemill.engine.archive import build_archive
    from tidemill.kafka.embedded import dev_fetch

    session.out.note("Making the class archives of Kafka and Spark: once, about a minute.")
    dev_fetch()
    if build_archive("tidemill.runtime.rehearsal") is None:
        session.out.note("No archive for Spark could be made: it works as well, and starts a little later.")


def _interrupt(number: int, frame: object) -> None:  # noqa: ARG001 -- the signature of a signal handler
    raise KeyboardInterrupt


def _hold(cluster: Cluster) -> None:
    """Wait until somebody ends it; a broker that dies by itself is told with its log."""
    while cluster.running:
        time.sleep(0.3)
    for _ in range(20):
        if _stopped_in_order(cluster.directory):
            return
        time.sleep(0.1)
    raise TidemillError(
        "all brokers have ended",
        where=str(cluster.directory),
        remedy=f"their logs end so:\n{cluster.logs_tail()}",
    )


def _stopped_in_order(directory: Path) -> bool:
    """Whether `dev down` was said in another terminal: it notes that the brokers are gone."""
    from tidemill.kafka.embedded.layout import Layout
    from tidemill.kafka.embedded.state import read_state

    state = read_state(Layout(directory))
    return state is None or all(node.process is None for node in state.nodes)


def _row(status: Any) -> dict[str, Any]:
    return {
        "name": status.name,
        "state": status.state,
        "bootstrap_servers": status.bootstrap_servers,
        "secure": status.secure,
        "detached": status.detached,
        "directory": str(status.directory),
        "cluster_id": status.cluster_id,
        "memory": sum(broker.resident_bytes for broker in status.brokers),
        "pids": [broker.pid for broker in status.brokers if broker.pid is not None],
        "brokers": [
            {"broker": broker.broker, "port": broker.port, "pid": broker.pid, "memory": broker.resident_bytes}
            for broker in status.brokers
        ],
    }


def _welcome(session: Session, cluster: Cluster, status: Any, *, detach: bool) -> None:
    out = session.out
    if out.is_data:
        out.data(_row(status))
        return
    address = cluster.client_config()["bootstrap.servers"]
    if not out.on_terminal:
        out.line(str(address))
        return
    end = (
        f"tidemill dev down{'' if cluster.name == 'default' else f' --name {cluster.name}'}"
        if detach
        else "Ctrl-C"
    )
    facts = [
        ("bootstrap", str(address)),
        (
            "brokers",
            f"{cluster.brokers}, {sum(broker.resident_bytes for broker in status.brokers) >> 20} MiB",
        ),
        ("records", str(cluster.directory)),
        ("stop", end),
    ]
    if cluster.secure:
        users = "admin, alice (topics and groups), bob (nothing)"
        facts.insert(
            2, ("login", f"{cluster.secure}; {users}\npasswords: {cluster.directory}/security/passwords.json")
        )
    _panel(session, facts)


def _panel(session: Session, facts: list[tuple[str, str]]) -> None:
    from rich.console import Console, Group
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    for label, value in facts:
        table.add_row(
            Text(label, style="dim"),
            Text(value, style="bold" if label == "bootstrap" else "", overflow="fold"),
        )
    steps = Text(
        "\nTry in another terminal:\n"
        "  tidemill topics create orders -p 4\n"
        "  echo 'ann:2 apples' | tidemill produce orders -K:\n"
        "  tidemill consume orders --from-beginning"
    )
    console = Console(file=sys.stdout, no_color=not session.out.color, highlight=False)
    console.print(
        Panel(Group(table, steps), title="Kafka is up", border_style="green", expand=False, padding=(1, 2))
    )
