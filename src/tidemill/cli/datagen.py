"""`tidemill datagen`: made-up records, into topics or a file."""

from __future__ import annotations

import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidemill.cli.help import Command, single
from tidemill.cli.options import session
from tidemill.cli.output import Column
from tidemill.cli.session import Session, parse_pairs
from tidemill.datagen.ready import READY
from tidemill.datagen.schema import STRUCTS, Schema, ValueFormat, load_schema
from tidemill.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from tidemill.datagen.generate import Made
    from tidemill.datagen.write import FileWriter, TopicWriter

app = single()


@app.command("datagen", cls=Command)
@session
def datagen(
    session: Session,
    sets: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SET]...", help="Ready sets, as --list shows them.", show_default=False),
    ] = None,
    listing: Annotated[
        bool, typer.Option("--list", help="Show the ready sets and what a field may be.")
    ] = False,
    schema: Annotated[
        Path | None, typer.Option("--schema", metavar="FILE", help="A schema of your own, in TOML.")
    ] = None,
    field: Annotated[
        list[str] | None,
        typer.Option(
            "--field", metavar="NAME=WHAT", help="A field, new or instead of the set's; repeatable."
        ),
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="WHAT", help="What keys are, such as 'zipf(u1..u50)'.")
    ] = None,
    keys: Annotated[
        int | None, typer.Option("--keys", metavar="N", min=1, help="How many different keys there are.")
    ] = None,
    value_format: Annotated[
        ValueFormat | None, typer.Option("--format", help="How values are written.")
    ] = None,
    topic: Annotated[
        str | None, typer.Option("--topic", metavar="NAME", help="Topic to write to, if not the set's name.")
    ] = None,
    partitions: Annotated[
        int, typer.Option("-p", "--partitions", metavar="N", min=1, help="Of topics that must be created.")
    ] = 1,
    to_file: Annotated[
        str | None,
        typer.Option(
            "-o", "--to-file", metavar="FILE", help="JSON lines to a file, `-` for standard output."
        ),
    ] = None,
    count: Annotated[
        int | None, typer.Option("-c", "--count", metavar="N", min=0, help="End after so many records.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", metavar="N", min=0, help="End after so long.")
    ] = None,
    rate: Annotated[
        float | None, typer.Option("--rate", metavar="N", min=0.001, help="Records of each set per second.")
    ] = None,
    out_of_order: Annotated[
        str | None,
        typer.Option("--out-of-order", metavar="TIME", help="How late records may be, such as '5 s'."),
    ] = None,
    broken: Annotated[
        float | None, typer.Option("--broken", metavar="SHARE", min=0, max=1, help="Share of cut-off values.")
    ] = None,
    seed: Annotated[
        str | None, typer.Option("--seed", metavar="TEXT", help="The same seed makes the same records.")
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--start", metavar="TIME", help="Time of the first record, if not now; writes at once."),
    ] = None,
    at_once: Annotated[bool, typer.Option("--at-once", help="Do not wait until a record is due.")] = False,
) -> None:
    """Make up records and write them to topics, at a rate, or to a file, at once.

    A field is a distribution: uniform(1, 100), normal(20, 5), walk(20, 0.3), choice(a, b), zipf(u1..u50),
    weighted(ok:9, bad:1), sequence(o1), words(4, 9) and more, as --list shows. A record's time lies up to
    --out-of-order before it is due. The same --seed and --start make the same records, byte by byte.

    Example:

        $ tidemill datagen numbers --rate 50
        $ tidemill datagen orders customers --count 1000 --seed 7
        $ tidemill datagen payments -o payments.jsonl --count 500 --seed 7 --start 2026-01-01T00:00:00Z
        $ tidemill datagen --topic trips --field 'km=lognormal(8, 0.7)' --key 'choice(t1..t9)' --count 100
        $ tidemill datagen --list
    """
    from tidemill.datagen.generate import make
    from tidemill.kafka.offsets import parse_time
    from tidemill.runtime.signals import stop_on_signal

    if listing:
        _list(session)
        return
    chosen = [
        _changed(one, topic, key, field, value_format, rate, out_of_order, broken)
        for one in _schemas(sets or [], schema, topic, field, key)
    ]
    if topic is not None and len(chosen) > 1:
        raise UsageError("one --topic for several sets", remedy="leave it out, or call once for each set")
    name = seed or secrets.token_hex(4)
    begin = int(time.time() * 1000) if start is None else parse_time(start)
    asked = threading.Event()
    end = None if seconds is None else time.monotonic() + seconds

    def stop(wait: float) -> bool:
        late = end is not None and time.monotonic() + wait > end
        return asked.wait(0 if late else wait) or late

    paced = to_file is None and start is None and not at_once
    with stop_on_signal(asked.set), ExitStack() as opened:
        writer = _writer(session, chosen, to_file, partitions, paced, stop, opened)
        records = islice(make(chosen, seed=name, start=begin, keys=keys), count)
        written, failed = _write(session, writer, records, count)
    where = to_file or ", ".join(sorted({one.topic for one in chosen}))
    session.out.note(f"{written:,} record{'s' * (written != 1)} to {where}, {failed} failed, seed {name}")
    if failed:
        from tidemill.datagen.write import TopicWriter

        error = writer.error() if isinstance(writer, TopicWriter) else None
        session.out.say(f"Error: {failed} not delivered: {error}", style="31")
        raise typer.Exit(ExitCode.FAILED)
    if asked.is_set() and count is not None:
        raise typer.Exit(ExitCode.INTERRUPTED)


def _schemas(
    sets: list[str], file: Path | None, topic: str | None, fields: list[str] | None, key: str | None
) -> list[Schema]:
    unknown = [name for name in sets if name not in READY]
    if unknown:
        raise UsageError(f"there is no ready set `{unknown[0]}`", remedy=f"there are: {', '.join(READY)}")
    found = [READY[name] for name in sets]
    if file is not None:
        found.append(load_schema(file))
    if not found and topic and fields:
        found.append(Schema(topic=topic, key=key, fields=parse_pairs(fields, option="--field")))
    if not found:
        raise UsageError(
            "nothing says what the records are",
            remedy="name a ready set, a --schema, or a --topic with --field; --list shows what there is",
        )
    return found


def _changed(
    schema: Schema,
    topic: str | None,
    key: str | None,
    fields: list[str] | None,
    value_format: ValueFormat | None,
    rate: float | None,
    out_of_order: str | None,
    broken: float | None,
) -> Schema:
    from tidemill.time import milliseconds

    late = None if out_of_order is None else milliseconds(out_of_order, what="--out-of-order")
    wishes = {
        "topic": topic,
        "key": key,
        "format": value_format,
        "rate": rate,
        "out_of_order": late,
        "broken": broken,
        "fields": {**schema.fields, **parse_pairs(fields, option="--field")} if fields else None,
    }
    given: dict[str, Any] = {name: wish for name, wish in wishes.items() if wish is not None}
    return replace(schema, **given)


def _writer(
    session: Session,
    schemas: list[Schema],
    to_file: str | None,
    partitions: int,
    paced: bool,
    stop: Callable[[float], bool],
    opened: ExitStack,
) -> FileWriter | TopicWriter:
    from tidemill.datagen.write import FileWriter, TopicWriter, ensure_topics
    from tidemill.kafka.records import Format

    if to_file is None:
        created = ensure_topics(session.settings, [one.topic for one in schemas], partitions=partitions)
        if created:
            session.out.note(f"created {', '.join(created)}, partitions {partitions}")
        return TopicWriter(session.settings, paced=paced, stop=stop)
    formats = {one.topic: Format(one.format.value) for one in schemas if one.format not in STRUCTS}
    if to_file == "-":
        return FileWriter(sys.stdout, formats, stop)
    try:
        return FileWriter(opened.enter_context(Path(to_file).open("w", encoding="utf-8")), formats, stop)
    except OSError as error:
        raise UsageError(f"the file `{to_file}` cannot be written: {error.strerror}") from error


def _write(
    session: Session, writer: FileWriter | TopicWriter, records: Iterator[Made], count: int | None
) -> tuple[int, int]:
    with _progress(session, count) as tick:
        for made in records:
            if not writer.write(made):
                break
            tick()
        return writer.finish()


@contextmanager
def _progress(session: Session, count: int | None) -> Iterator[Callable[[], None]]:
    """A bar on a terminal, a line every few seconds elsewhere; on standard error."""
    if session.options.quiet:
        yield lambda: None
        return
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("writing"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("", total=count)
            yield lambda: bar.advance(task)
        return
    done, said = 0, time.monotonic()

    def tick() -> None:
        nonlocal done, said
        done += 1
        if time.monotonic() - said > _SAY_SECONDS:
            said = time.monotonic()
            session.out.note(f"{done:,} records so far" + (f" of {count:,}" if count else ""))

    yield tick


_SAY_SECONDS = 5.0


def _list(session: Session) -> None:
    from tidemill.datagen.fields import distributions

    rows = [
        {
            "set": name,
            "about": one.about,
            "key": one.key or "",
            "fields": ", ".join(f"{field}={text}" for field, text in one.fields.items()),
            "format": str(one.format),
            "rate": one.rate,
            "out_of_order_ms": one.out_of_order,
        }
        for name, one in READY.items()
    ]
    columns = [
        Column("set", "SET"),
        Column("about", "RECORDS"),
        Column("format", "FORMAT"),
        Column("key", "KEY", wide=True),
        Column("fields", "FIELDS", wide=True),
        Column("rate", "PER SECOND", right=True),
        Column("out_of_order_ms", "LATE MS", right=True),
    ]
    session.out.rows(columns, rows)
    if not session.out.is_data:
        session.out.note("fields: " + ", ".join(f"{name}{form}" for name, form in distributions().items()))
