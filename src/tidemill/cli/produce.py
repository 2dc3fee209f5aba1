"""`tidemill produce`: write records to a topic."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from tidemill.cli.complete import topic_names
from tidemill.cli.help import Command, single
from tidemill.cli.options import session
from tidemill.cli.session import Session, parse_pairs
from tidemill.errors import ExitCode, NotFound, TidemillError, UsageError
from tidemill.kafka.records import Format, Headers, Record, encode, from_json

if TYPE_CHECKING:
    from tidemill.kafka.writer import Delivered, Writer

app = single()


@app.command("produce", cls=Command)
@session
def produce(
    session: Session,
    topic: Annotated[
        str, typer.Argument(metavar="TOPIC", help="Topic to write to.", autocompletion=topic_names)
    ],
    from_file: Annotated[
        Path | None,
        typer.Option("--from-file", metavar="FILE", help="Read lines from a file, not standard input."),
    ] = None,
    key_separator: Annotated[
        str | None,
        typer.Option("-K", "--key-separator", metavar="TEXT", help="What is before it in a line is the key."),
    ] = None,
    key: Annotated[
        str | None, typer.Option("-k", "--key", metavar="TEXT", help="Key of every record.")
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option("-H", "--header", metavar="NAME=VALUE", help="Header of every record; repeatable."),
    ] = None,
    partition: Annotated[
        int,
        typer.Option("-p", "--partition", metavar="N", help="Partition to write to; -1 lets the key decide."),
    ] = -1,
    json_lines: Annotated[
        bool, typer.Option("--json", help="Lines are JSON: key, value, headers, timestamp, partition.")
    ] = False,
    null: Annotated[bool, typer.Option("--null", "-Z", help="An empty value is null, a deletion.")] = False,
    key_format: Annotated[
        Format, typer.Option("--key-format", help="How keys are written in the input.")
    ] = Format.string,
    value_format: Annotated[
        Format, typer.Option("--value-format", help="How values are written in the input.")
    ] = Format.string,
    rate: Annotated[
        float | None, typer.Option("--rate", metavar="N", min=0.001, help="At most N records a second.")
    ] = None,
    compression: Annotated[
        str | None, typer.Option("--compression", metavar="CODEC", help="none, gzip, snappy, lz4 or zstd.")
    ] = None,
    acks: Annotated[
        str | None, typer.Option("--acks", metavar="N", help="0, 1 or all (the default).")
    ] = None,
) -> None:
    r"""Write records to a topic, one per line of standard input or of a file.

    Keys choose partitions as every Java client's do (murmur2), so that topics of both can be joined.
    A record that could not be delivered makes the exit code 1.

    Example:

        $ echo 'ann:2 apples' | tidemill produce orders -K:
        $ tidemill produce orders --from-file orders.jsonl --json --rate 1000
        $ tidemill produce counts -k ann --value-format long <<< 42
    """
    from tidemill.kafka.writer import Writer

    session.admin.topic(topic)
    settings = session.with_settings(
        {"compression.type": compression, "acks": acks, "delivery.timeout.ms": _delivery_timeout(session)},
        source="produce",
    )
    extra: Headers = [(name, value.encode()) for name, value in parse_pairs(header, option="-H").items()]
    fixed_key = None if key is None else encode(key, key_format)

    def parse(line: str) -> Record:
        if json_lines:
            record = from_json(line, key_form=key_format, value_form=value_format)
            where = record.partition if record.partition >= 0 else partition
            own_key = record.key if record.key is not None else fixed_key
            return Record(record.value, own_key, [*record.headers, *extra], record.timestamp, partition=where)
        own_key = fixed_key
        if key_separator:
            before, found, after = line.partition(key_separator)
            if found:
                own_key, line = encode(before, key_format), after
        value = None if null and not line else encode(line, value_format)
        return Record(value, own_key, extra, partition=partition)

    writer = Writer(settings, topic, rate=rate, verbose=session.options.verbose)
    interrupted = False
    try:
        for number, line in enumerate(_lines(session, from_file), 1):
            if json_lines and not line.strip():
                continue
            try:
                writer.write(parse(line))
            except UsageError as error:
                writer.finish()
                raise UsageError(
                    error.what, where=f"{from_file or 'standard input'}, line {number}", remedy=error.remedy
                ) from error
    except KeyboardInterrupt:
        interrupted = True
    result = writer.finish()
    _summarise(session, topic, result, writer)
    if result.failed:
        raise typer.Exit(ExitCode.FAILED)
    if interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)


def _delivery_timeout(session: Session) -> int | None:
    given = {"delivery.timeout.ms", "message.timeout.ms"} & set(session.settings)
    return None if given else 30_000


def _lines(session: Session, path: Path | None) -> Iterator[str]:
    if path is None:
        if sys.stdin.isatty():
            session.out.note("Type records, one per line; Ctrl-D ends.")
        yield from _decoded(sys.stdin.buffer)
        return
    try:
        with path.open("rb") as file:
            yield from _decoded(_with_bar(session, file, path))
    except FileNotFoundError as error:
        raise NotFound(
            f"the file `{path}` does not exist", remedy="correct the path after --from-file"
        ) from error
    except (IsADirectoryError, PermissionError) as error:
        raise UsageError(f"the file `{path}` cannot be read: {error.strerror}") from error


def _decoded(lines: Iterator[bytes] | IO[bytes]) -> Iterator[str]:
    for line in lines:
        yield line.rstrip(b"\r\n").decode(errors="surrogateescape")


def _with_bar(session: Session, file: IO[bytes], path: Path) -> Iterator[bytes]:
    if session.options.quiet or not sys.stderr.isatty():
        yield from file
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress("{task.description}", *columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(path.name, total=path.stat().st_size)
        pending = 0
        for line in file:
            yield line
            pending += len(line)
            if pending > 65_536:
                bar.advance(task, pending)
                pending = 0
        bar.advance(task, pending)


def _summarise(session: Session, topic: str, result: Delivered, writer: Writer) -> None:
    count, seconds = result.acknowledged, result.seconds
    pace = f" in {seconds:.1f} s ({count / seconds:,.0f}/s)" if count >= 1000 else ""
    session.out.note(f"{count:,} record{'s' * (count != 1)} to {topic}{pace}, {result.failed} failed")
    if result.failed:
        from tidemill.kafka.errors import Subject

        error: TidemillError = writer.watch.error(result.first_error, Subject("topic", topic))
        kinds = ", ".join(f"{number} × {name}" for name, number in result.errors.most_common())
        session.out.say(f"Error: {result.failed} not delivered ({kinds}): {error}", style="31")
