"""The command line: `python -m bench run --workload W2 --system tidemill,kstreams --records 2000000`."""

from __future__ import annotations

import argparse
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from bench import latency, lifecycle, page, plan, readme
from bench.broker import Broker
from bench.drain import Lab, Task
from bench.latency import SETUPS
from bench.paths import BUILD, ROOT
from bench.store import Store
from bench.systems import ALOS, EOS, SYSTEMS
from bench.workloads import WORKLOADS

_GUARANTEES = {"alos": ALOS, "eos": EOS}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 1 if any run failed or gave a wrong answer."""
    options = _parser().parse_args(arguments)
    if options.steps is None:
        store = Store.load(options.json[0])
        for file in options.json[1:]:
            store.merge(Store.load(file))
        _publish(store)
        return 0
    # An end by a signal passes through every `finally`: no program and no broker stays behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if options.fresh:
        shutil.rmtree(options.data, ignore_errors=True)
    given = sys.argv[1:] if arguments is None else arguments
    file = options.json or BUILD / f"{getattr(options, 'session', options.command)}.json"
    store = Store.begin(file, f"python -m bench {shlex.join(given)}", resume=options.resume)
    session: plan.Session = options.steps(options)
    with Broker(options.data) as broker:
        lab = Lab(broker)
        lab.tidy()
        try:
            session.carry_out(lab, store, retry=options.retry)
        finally:
            print("\n" + page.as_text(store))
            print(f"All figures: {file}")
    if options.page:
        _publish(store)
    return int(store.failed)


def _publish(store: Store) -> None:
    page.write(store, ROOT / "docs")
    readme.write(store, ROOT / "README.md")


def _whole(options: argparse.Namespace) -> plan.Session:
    session = plan.SESSIONS[options.session]
    budget = session.budget if options.budget is None else options.budget or None
    return replace(
        session,
        scale=options.scale or session.scale,
        runs=options.runs or session.runs,
        budget=budget,
        only=options.only,
    )


def _drains(options: argparse.Namespace) -> plan.Session:
    def steps(_: plan.Session) -> Iterator[plan.Step]:
        for run in range(options.runs):
            for workload in options.workload:
                for guarantee in options.guarantee:
                    for name in options.system:
                        if SYSTEMS[name].can(workload, guarantee):
                            yield plan.drain(_task(options, workload, name, guarantee, run))

    return plan.Session(options.scale, options.runs, steps)


def _task(options: argparse.Namespace, workload: str, name: str, guarantee: str, run: int) -> Task:
    return Task(
        WORKLOADS[workload],
        SYSTEMS[name],
        guarantee,
        options.records or int(options.scale * WORKLOADS[workload].share),
        options.keys,
        options.partitions,
        options.table_keys,
        options.timeout,
        dict(pair.split("=", 1) for owner, pair in options.set if owner == name),
        run,
    )


def _latencies(options: argparse.Namespace) -> plan.Session:
    def steps(_: plan.Session) -> Iterator[plan.Step]:
        for run in range(options.runs):
            for workload in options.workload:
                for name in options.setup:
                    settings = dict(
                        pair.split("=", 1) for owner, pair in options.set if name.startswith(owner)
                    )
                    setup = replace(SETUPS[name], settings={**SETUPS[name].settings, **settings})
                    wish = latency.Wish(
                        setup, workload, options.rate, options.seconds, options.partitions, run
                    )
                    yield plan.latency_step(wish)

    return plan.Session(0, options.runs, steps)


def _lives(options: argparse.Namespace) -> plan.Session:
    def steps(_: plan.Session) -> Iterator[plan.Step]:
        for run in range(options.runs):
            for guarantee in options.guarantee:
                for name in options.system:
                    yield plan.life_step(options.measure, name, guarantee, run, options.keys)

    return plan.Session(0, options.runs, steps)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    commands = parser.add_subparsers(required=True)

    def add(
        name: str, text: str, steps: Callable[[argparse.Namespace], plan.Session] | None
    ) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(steps=steps, command=name)
        if steps is not None:
            command.add_argument("--json", type=Path, help="file of all figures, by default in build/bench")
            command.add_argument("--resume", action="store_true", help="take only what the file has not yet")
            command.add_argument("--retry", action="store_true", help="with --resume: what failed, too")
            command.add_argument("--page", action="store_true", help="write docs/benchmarks.md too")
            command.add_argument("--data", type=Path, default=BUILD / "broker", help="folder of the broker")
            command.add_argument("--fresh", action="store_true", help="write the input anew")
        return command

    drain = add("run", "drain a backlog: throughput, processor time, memory", _drains)
    drain.add_argument("--workload", type=_names(WORKLOADS), default=[f"W{number}" for number in range(8)])
    drain.add_argument("--system", type=_names(SYSTEMS), default=list(plan.PAIR))
    drain.add_argument("--guarantee", type=_guarantees, default=[ALOS], help="alos, eos or alos,eos")
    drain.add_argument("--records", type=int, help="for every workload; --scale gives each its share")
    drain.add_argument(
        "--scale",
        type=int,
        default=2_000_000,
        help="records at a share of 1",
    )
    drain.add_argument("--keys", type=int, default=10_000)
    drain.add_argument("--table-keys", type=int, help="rows of the table of W4 and W7")
    drain.add_argument("--partitions", type=int, default=4)
    drain.add_argument("--runs", type=int, default=1)
    drain.add_argument("--timeout", type=float, default=180.0, help="seconds for one run")
    _add_setting(drain)

    live = add("latency", "send at a steady rate and time the results", _latencies)
    live.add_argument("--workload", type=_names(WORKLOADS), default=["W0", "sum"])
    live.add_argument("--setup", type=_names(SETUPS), default=["tidemill-realtime", "kstreams-alos"])
    live.add_argument("--rate", type=int, default=1_000, help="records a second")
    live.add_argument("--seconds", type=float, default=20.0)
    live.add_argument("--partitions", type=int, default=4)
    live.add_argument("--runs", type=int, default=1)
    _add_setting(live)

    life = add("life", "start-up, idle cost, or recovery after kill -9 with a million keys", _lives)
    life.add_argument("measure", choices=list(lifecycle.MEASURES))
    life.add_argument("--system", type=_names(SYSTEMS), default=list(plan.PAIR))
    life.add_argument("--guarantee", type=_guarantees, default=[ALOS])
    life.add_argument("--keys", type=int, help="a million for recovery, else a thousand")
    life.add_argument("--runs", type=int, default=1)

    whole = add("all", "a whole session: quick, bench or full", _whole)
    whole.add_argument("session", choices=list(plan.SESSIONS))
    whole.add_argument("--scale", type=int, help="records at a share of 1")
    whole.add_argument("--runs", type=int)
    whole.add_argument(
        "--only", default="", help="a regular expression for names of measurements: W3|latency"
    )
    whole.add_argument("--budget", type=float, help="seconds after which nothing new begins; 0 for no end")

    written = add("page", "write docs/benchmarks.md from files of figures; later ones count", None)
    written.add_argument("--json", type=Path, nargs="+", default=[BUILD / "full.json"])
    return parser


def _add_setting(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--set",
        type=_setting,
        action="append",
        default=[],
        metavar="SYSTEM:KEY=VALUE",
        help="a setting for one system, such as tidemill:max.offsets.per.trigger=500000",
    )


def _names(known: Collection[str]) -> Callable[[str], list[str]]:
    def parse(text: str) -> list[str]:
        names = text.split(",")
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"`{name}` is none of {', '.join(known)}")
        return names

    return parse


def _guarantees(text: str) -> list[str]:
    try:
        return [_GUARANTEES[name] for name in text.split(",")]
    except KeyError as error:
        raise argparse.ArgumentTypeError(f"{error} is neither alos nor eos") from error


def _setting(text: str) -> tuple[str, str]:
    owner, _, pair = text.partition(":")
    if owner not in SYSTEMS or "=" not in pair:
        raise argparse.ArgumentTypeError("write SYSTEM:KEY=VALUE")
    return owner, pair


if __name__ == "__main__":
    sys.exit(main())
