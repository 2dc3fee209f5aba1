"""`tidemill topics`: list, create, describe, change and delete topics."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tidemill.cli.complete import topic_names
from tidemill.cli.help import Command, group
from tidemill.cli.options import session
from tidemill.cli.output import Column, OutputFormat
from tidemill.cli.session import Session, parse_pairs
from tidemill.errors import NotFound, UsageError

app = group("topics", "List, create, describe, change and delete topics.")

Name = Annotated[str, typer.Argument(metavar="TOPIC", help="Name of the topic.", autocompletion=topic_names)]
Names = Annotated[
    list[str], typer.Argument(metavar="TOPIC", help="Names of topics.", autocompletion=topic_names)
]
Config = Annotated[
    list[str] | None,
    typer.Option("-c", "--config", metavar="NAME=VALUE", help="Setting of the topic; repeatable."),
]


@app.command("list", cls=Command)
@session
def list_topics(
    session: Session,
    internal: Annotated[bool, typer.Option("--internal", help="Kafka's own topics (__...) too.")] = False,
) -> None:
    """List topics; `-O wide` counts their records too.

    Example:

        $ tidemill topics list
        $ tidemill topics list -O json | jq -r '.[].topic'
    """
    from tidemill.kafka.offsets import watermarks

    topics = session.admin.topics(internal=internal)
    rows: list[dict[str, Any]] = [
        {"topic": topic.name, "partitions": len(topic.partitions), "replication": topic.replication}
        for topic in topics
    ]
    if session.out.form is OutputFormat.wide:
        partitions = [(topic.name, partition.id) for topic in topics for partition in topic.partitions]
        marks = watermarks(session.admin, partitions)
        for row in rows:
            row["records"] = sum(mark.count for (name, _), mark in marks.items() if name == row["topic"])
    columns = [
        Column("topic", "TOPIC"),
        Column("partitions", "PARTITIONS", right=True),
        Column("replication", "REPLICAS", right=True),
        Column("records", "RECORDS", wide=True, right=True),
    ]
    session.out.rows(columns, rows, empty="No topics yet; make one with `tidemill topics create NAME`.")


@app.command("create", cls=Command)
@session
def create(
    session: Session,
    names: Names,
    partitions: Annotated[
        int,
        typer.Option(
            "-p", "--partitions", metavar="N", help="Number of partitions; -1 is the broker's default."
        ),
    ] = -1,
    replicas: Annotated[
        int,
        typer.Option(
            "-r",
            "--replication-factor",
            metavar="N",
            help="Copies of each partition; -1 is the broker's default.",
        ),
    ] = -1,
    config: Config = None,
    if_not_exists: Annotated[
        bool, typer.Option("--if-not-exists", help="It is no error if the topic is there already.")
    ] = False,
) -> None:
    """Create topics.

    Example:

        $ tidemill topics create orders -p 4
        $ tidemill topics create prices -p 4 -r 3 -c cleanup.policy=compact --if-not-exists
    """
    settings = parse_pairs(config, option="-c")
    for name in names:
        if if_not_exists and session.admin.exists(name):
            session.out.note(f"Topic {name} exists already.")
            continue
        session.admin.create(name, partitions=partitions, replication=replicas, config=settings)
        session.out.note(f"Created topic {name}.")


@app.command("describe", cls=Command)
@session
def describe(
    session: Session,
    names: Names,
    everything: Annotated[bool, typer.Option("--all", help="Inherited settings too.")] = False,
) -> None:
    """Show partitions, replicas, offsets and settings.

    Example:

        $ tidemill topics describe orders
        $ tidemill topics describe orders --all -O yaml
    """
    topics = [_description(session, name, everything=everything) for name in names]
    session.out.document(topics if len(topics) > 1 else topics[0], lambda: _draw(session, topics))


@app.command("alter", cls=Command)
@session
def alter(
    session: Session,
    name: Name,
    config: Config = None,
    delete_config: Annotated[
        list[str] | None,
        typer.Option(
            "--delete-config", metavar="NAME", help="Return this setting to its default; repeatable."
        ),
    ] = None,
) -> None:
    """Change settings of a topic.

    Example:

        $ tidemill topics alter orders -c retention.ms=86400000
        $ tidemill topics alter orders --delete-config retention.ms
    """
    changes = parse_pairs(config, option="-c")
    if not changes and not delete_config:
        raise UsageError("nothing to change", remedy="pass -c NAME=VALUE or --delete-config NAME")
    session.admin.topic(name)
    session.admin.alter_config(name, changes, delete_config or [])
    session.out.note(f"Changed topic {name}.")


@app.command("add-partitions", cls=Command)
@session
def add_partitions(
    session: Session,
    name: Name,
    partitions: Annotated[
        int,
        typer.Option(
            "-p", "--partitions", metavar="N", help="Number of partitions the topic shall have, all in all."
        ),
    ],
) -> None:
    """Give a topic more partitions.

    New records of a key may then go to another partition than its old ones.

    Example:

        $ tidemill topics add-partitions orders -p 8
    """
    before = len(session.admin.topic(name).partitions)
    session.admin.add_partitions(name, partitions)
    session.out.note(f"Topic {name} has {partitions} partitions now, {before} before.")


@app.command("delete", cls=Command)
@session
def delete(
    session: Session,
    names: Names,
    if_exists: Annotated[
        bool, typer.Option("--if-exists", help="It is no error if the topic is not there.")
    ] = False,
) -> None:
    """Delete topics and all their records.

    Example:

        $ tidemill topics delete orders
        $ tidemill topics delete orders prices --if-exists --yes
    """
    there = []
    for name in names:
        try:
            there.append(session.admin.topic(name).name)
        except NotFound:
            if not if_exists:
                raise
            session.out.note(f"There is no topic {name}.")
    if there:
        session.confirm(f"Delete {', '.join(there)} with all records?")
        session.admin.delete(there)
        session.out.note(f"Deleted {', '.join(there)}.")


@app.command("count", cls=Command)
@session
def count(
    session: Session,
    names: Names,
    per_partition: Annotated[bool, typer.Option("--per-partition", help="One line per partition.")] = False,
) -> None:
    """Count records.

    What is counted are the offsets between beginning and end. In compacted and transactional topics some
    offsets hold no record, so this is the most there can be.

    Example:

        $ tidemill topics count orders
        $ tidemill topics count orders --per-partition -O json
    """
    from tidemill.kafka.offsets import watermarks

    keys = [
        (topic.name, partition.id)
        for topic in session.admin.describe(names)
        for partition in topic.partitions
    ]
    marks = watermarks(session.admin, keys)
    if per_partition:
        rows = [
            {
                "topic": name,
                "partition": part,
                "records": marks[name, part].count,
                "beginning": mark.low,
                "end": mark.high,
            }
            for (name, part), mark in marks.items()
        ]
        columns = [
            Column("topic", "TOPIC"),
            Column("partition", "PARTITION", right=True),
            Column("records", "RECORDS", right=True),
            Column("beginning", "BEGINNING", right=True),
            Column("end", "END", right=True),
        ]
        session.out.rows(columns, rows)
        return
    totals = [
        {"topic": name, "records": sum(mark.count for (topic, _), mark in marks.items() if topic == name)}
        for name in names
    ]
    session.out.rows([Column("topic", "TOPIC"), Column("records", "RECORDS", right=True)], totals)


def _description(session: Session, name: str, *, everything: bool) -> dict[str, Any]:
    from tidemill.kafka.offsets import watermarks

    admin = session.admin
    topic = admin.topic(name)
    marks = watermarks(
        admin, [(name, partition.id) for partition in topic.partitions if partition.leader is not None]
    )
    partitions = []
    for part in topic.partitions:
        mark = marks.get((name, part.id))
        partitions.append(
            {
                "partition": part.id,
                "leader": part.leader,
                "replicas": list(part.replicas),
                "isr": list(part.isr),
                "beginning": mark.low if mark else None,
                "end": mark.high if mark else None,
            }
        )
    configs = {
        value.name: "***" if value.is_sensitive else value.value
        for value in admin.configs(name)
        if everything or not value.is_default
    }
    return {
        "topic": name,
        "partitions": partitions,
        "replication": topic.replication,
        "records": sum(mark.count for mark in marks.values()),
        "config": configs,
    }


def _draw(session: Session, topics: list[dict[str, Any]]) -> None:
    out = session.out
    columns = [
        Column("partition", "PARTITION", right=True),
        Column("leader", "LEADER", right=True),
        Column("replicas", "REPLICAS"),
        Column("isr", "IN SYNC"),
        Column("beginning", "BEGINNING", right=True),
        Column("end", "END", right=True),
    ]
    for number, topic in enumerate(topics):
        if number:
            out.line()
        parts = f"{len(topic['partitions'])} partition{'s' * (len(topic['partitions']) != 1)}"
        about = f"{parts}, replication {topic['replication']}, {topic['records']} records"
        out.line(f"{out.bold(topic['topic'])}  {about}")
        for name, value in topic["config"].items():
            out.line(f"  {name}={value}")
        out.rows(columns, topic["partitions"])
