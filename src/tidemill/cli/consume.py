"""`tidemill consume`: read records from topics."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import typer

from tidemill.cli.complete import topic_names
from tidemill.cli.help import Command, single
from tidemill.cli.options import session
from tidemill.cli.output import OutputFormat
from tidemill.cli.session import Session
from tidemill.errors import ExitCode, UsageError
from tidemill.kafka.offsets import Range, parse_offsets
from tidemill.kafka.records import Format, Record, compile_format, decode, show_headers, show_time, to_json

app = single()

Show = Callable[[Record], bytes]


class Isolation(StrEnum):
    """Which records of transactions are seen."""

    read_committed = "read_committed"
    read_uncommitted = "read_uncommitted"


@app.command("consume", cls=Command)
@session
def consume(
    session: Session,
    topics: Annotated[
        list[str], typer.Argument(metavar="TOPIC", help="Topics to read.", autocompletion=topic_names)
    ],
    partition: Annotated[
        list[int] | None,
        typer.Option("-p", "--partition", metavar="N", help="Only this partition; repeatable."),
    ] = None,
    offset: Annotated[
        list[str] | None,
        typer.Option(
            "-o",
            "--offset",
            metavar="PLACE",
            help="Start: beginning, end, stored, N, -N (N before the end), s@TIME; e@TIME is where to stop.",
        ),
    ] = None,
    from_beginning: Annotated[
        bool, typer.Option("--from-beginning", help="The same as -o beginning.")
    ] = False,
    count: Annotated[
        int | None, typer.Option("-c", "--count", metavar="N", min=1, help="Stop after so many records.")
    ] = None,
    exit_at_end: Annotated[
        bool,
        typer.Option("-e", "--exit", help="Stop at the end; reads from the beginning if no place is said."),
    ] = False,
    template: Annotated[
        str | None,
        typer.Option(
            "-f",
            "--format",
            metavar="TEXT",
            help=r"%t topic, %p partition, %o offset, %k key, %s or %v value, %T or %d time, %h headers.",
        ),
    ] = None,
    json_lines: Annotated[bool, typer.Option("-J", "--json", help="JSON, one object per line.")] = False,
    group: Annotated[
        str | None,
        typer.Option("-G", "--group", metavar="NAME", help="Read as a member of this group, and commit."),
    ] = None,
    isolation_level: Annotated[
        Isolation, typer.Option("--isolation-level", help="Whether open and aborted transactions are seen.")
    ] = Isolation.read_committed,
    key_format: Annotated[
        Format, typer.Option("--key-format", help="What the bytes of keys are.")
    ] = Format.string,
    value_format: Annotated[
        Format, typer.Option("--value-format", help="What the bytes of values are.")
    ] = Format.string,
    timeout: Annotated[
        float | None, typer.Option("--timeout", metavar="SECONDS", help="Stop when nothing came for so long.")
    ] = None,
) -> None:
    r"""Read records from topics.

    On a terminal each record has its place, time and key; in a pipe a line is a value. Without a group
    nothing is committed and nobody is disturbed.

    Example:

        $ tidemill consume orders --from-beginning -e
        $ tidemill consume orders -o -5 -e -f '%p:%o %k %s\n'
        $ tidemill consume orders -J | jq .value
        $ tidemill consume counts -e --value-format long
    """
    from tidemill.kafka.reader import Reading, read

    start = _start(offset, from_beginning=from_beginning, exit_at_end=exit_at_end, grouped=group is not None)
    reading = Reading(
        topics=topics,
        start=start,
        partitions=partition or (),
        count=count,
        stop_at_end=exit_at_end,
        idle_timeout=timeout,
        group=group,
    )
    show = _show(session, template, json_lines=json_lines, key=key_format, value=value_format)
    settings = session.with_settings({"isolation.level": isolation_level.value}, source="consume")
    if start.place == "end" and session.out.on_terminal:
        session.out.note("Waiting for new records; --from-beginning reads all, Ctrl-C ends.")
    whole = session.out.form is OutputFormat.json and not json_lines and template is None
    seen = 0
    records = read(reading, settings, verbose=session.options.verbose)
    out = sys.stdout.buffer
    try:
        for seen, record in enumerate(records, 1):
            if whole:
                out.write(b"[\n " if seen == 1 else b",\n ")
            out.write(show(record))
            if seen % 100 == 0 or session.out.on_terminal:
                out.flush()
        if whole:
            out.write(b"\n]\n" if seen else b"[]\n")
        out.flush()
    except KeyboardInterrupt:
        out.flush()
        session.out.note(f"{seen} records")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    finally:
        records.close()
    if session.out.on_terminal:
        session.out.note(f"{seen} record{'s' * (seen != 1)}")


def _start(words: list[str] | None, *, from_beginning: bool, exit_at_end: bool, grouped: bool) -> Range:
    start = parse_offsets(words or [])
    if from_beginning:
        if start is not None and start.place != "beginning":
            raise UsageError("--from-beginning and -o contradict each other", remedy="keep one of them")
        return Range("beginning", until_ms=start.until_ms if start else None)
    if start is None:
        return Range("beginning" if exit_at_end and not grouped else "end")
    if start.place == "stored" and not grouped:
        raise UsageError(
            "only a group has a stored offset", where="-o stored", remedy="name the group with -G"
        )
    return start


def _show(session: Session, template: str | None, *, json_lines: bool, key: Format, value: Format) -> Show:
    if template is not None:
        return compile_format(template, key_form=key, value_form=value)
    form = session.out.form
    if json_lines or form in {OutputFormat.json, OutputFormat.jsonl}:
        end = b"" if form is OutputFormat.json and not json_lines else b"\n"

        def as_json(record: Record) -> bytes:
            data = to_json(record, key_form=key, value_form=value)
            return json.dumps(data, ensure_ascii=False).encode() + end

        return as_json
    if form is OutputFormat.yaml:

        def as_yaml(record: Record) -> bytes:
            import yaml

            data = to_json(record, key_form=key, value_form=value)
            return yaml.safe_dump([data], sort_keys=False, allow_unicode=True, encoding="utf-8")

        return as_yaml
    if session.out.on_terminal or form is not None:
        return _for_people(session, key, value)
    return compile_format("%s\\n", value_form=value)


def _for_people(session: Session, key: Format, value: Format) -> Show:
    dim, strong, plain = ("\033[2m", "\033[36m", "\033[0m") if session.out.color else ("", "", "")

    def line(record: Record) -> bytes:
        place = f"{record.topic}[{record.partition}]@{record.offset}"
        name = decode(record.key, key, null="∅")
        text = decode(record.value, value, null=f"{dim}∅{plain}")
        headers = f" {dim}{{{show_headers(record.headers)}}}{plain}" if record.headers else ""
        about = f"{dim}{place} {show_time(record.timestamp)}{plain}"
        return f"{about} {strong}{name}{plain} {dim}→{plain} {text}{headers}\n".encode()

    return line
