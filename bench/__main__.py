"""The command line: `python -m bench run --workload W2 --system tidemill,kstreams --records 2000000`."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from bench.broker import Broker
from bench.drain import Lab, Result, Task
from bench.paths import BUILD
from bench.systems import ALOS, EOS, SYSTEMS
from bench.table import COLUMNS, rows, text
from bench.workloads import WORKLOADS

_GUARANTEES = {"alos": ALOS, "eos": EOS}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 1 if any run failed or gave a wrong answer."""
    options = _parser().parse_args(arguments)
    # An end by a signal passes through every `finally`: no program and no broker stays behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with Broker(BUILD / "broker") as broker:
        return int(options.command(options, Lab(broker)))


def run(options: argparse.Namespace, lab: Lab) -> int:
    """Drain a backlog with every system asked for."""
    results: list[Result] = []
    for workload in options.workload:
        work = WORKLOADS[workload]
        records = options.records or int(options.scale * work.share)
        for guarantee in options.guarantee:
            for number in range(options.runs):
                for name in options.system:
                    system = SYSTEMS[name]
                    if not system.can(workload, guarantee):
                        continue
                    task = Task(
                        work,
                        system,
                        guarantee,
                        records,
                        options.keys,
                        options.partitions,
                        options.table_keys,
                        options.timeout,
                        dict(pair.split("=", 1) for owner, pair in options.set if owner == name),
                        number,
                    )
                    results.append(lab.drain(task))
                    _tell(results[-1])
    print("\n" + text(COLUMNS, rows(results)))
    if options.json:
        options.json.write_text(json.dumps([result.as_json() for result in results], indent=1) + "\n")
    return int(any(result.error for result in results))


def _tell(result: Result) -> None:
    said = result.error or (
        f"{result.steady_rate:,.0f} records/s steady, {result.steady_cpu:.2f} CPU-s per million, "
        f"{result.total_rate:,.0f} records/s from the start"
    )
    print(f"{result.workload} {result.guarantee} {result.system}: {said}", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    commands = parser.add_subparsers(required=True)
    drain = commands.add_parser("run", help="drain a backlog: throughput, processor time, memory")
    drain.set_defaults(command=run)
    drain.add_argument("--workload", type=_names(WORKLOADS), default=[f"W{number}" for number in range(8)])
    drain.add_argument("--system", type=_names(SYSTEMS), default=["tidemill", "kstreams"])
    drain.add_argument("--guarantee", type=_guarantees, default=[ALOS], help="alos, eos or alos,eos")
    drain.add_argument("--records", type=int, help="for every workload; --scale gives each its share")
    drain.add_argument("--scale", type=int, default=2_000_000, help="records of W2; others in proportion")
    drain.add_argument("--keys", type=int, default=10_000)
    drain.add_argument("--table-keys", type=int, help="rows of the table of W4 and W7")
    drain.add_argument("--partitions", type=int, default=4)
    drain.add_argument("--runs", type=int, default=1)
    drain.add_argument("--timeout", type=float, default=180.0, help="seconds for one run")
    drain.add_argument("--json", type=Path, help="write all figures there")
    drain.add_argument(
        "--set",
        type=_setting,
        action="append",
        default=[],
        metavar="SYSTEM:KEY=VALUE",
        help="a setting for one system, such as tidemill:max.offsets.per.trigger=500000",
    )
    return parser


def _names(known: Collection[str]) -> Callable[[str], list[str]]:
    def parse(text: str) -> list[str]:
        names = text.split(",")
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"`{name}` is none of {', '.join(known)}")
        return names

    return parse


def _guarantees(text: str) -> list[str]:
    return [_GUARANTEES[name] for name in text.split(",")]


def _setting(text: str) -> tuple[str, str]:
    owner, _, pair = text.partition(":")
    if owner not in SYSTEMS or "=" not in pair:
        raise argparse.ArgumentTypeError("write SYSTEM:KEY=VALUE")
    return owner, pair


if __name__ == "__main__":
    sys.exit(main())
