"""Reset: the app forgets everything, and begins exactly where it was told."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runtime.topologies import echo_and_count, long_of
from tidemill import StreamsBuilder, serdes
from tidemill.cli.main import run as tidemill
from tidemill.errors import NotFound, TidemillError, UsageError, VerificationFailed
from tidemill.kafka.groups import commit_offsets
from tidemill.runtime.reset import STEPS, unfinished_reset
from tidemill.runtime.reset_plan import ResetRequest, Topics, plan_reset

HOUR = 3_600_000


class Watched:
    """What an app writes, run by run."""

    def __init__(self, app, broker, copy, counts) -> None:
        self.app, self.broker, self.topics = app, broker, (copy, counts)
        self.seen = [0, 0]

    def run(self) -> tuple[list[int], list[int]]:
        """The numbers copied, and the counts, of one run over what is there."""
        self.app.run(until="now")
        new = []
        for place, topic in enumerate(self.topics):
            records = self.broker.read(topic)
            new.append(records[self.seen[place] :])
            self.seen[place] = len(records)
        return [int(read.value) for read in new[0]], [long_of(read.value) for read in new[1]]

    def reset(self, *words: str) -> None:
        folder = self.app.config.folder
        words = ("app", "reset", self.app.application_id, "--state-dir", str(folder.parent), *words, "--yes")
        assert tidemill([*words, "-b", self.broker.servers, "-q"]) == 0


def test_app_begins_where_the_flags_say(make_app, broker, topic, tmp_path, capsys):
    source, copy, counts = topic("in"), topic("copy"), topic("counts")
    now = round(time.time() * 1000)
    old = [{"key": "k", "value": str(n), "timestamp": now - (10 - n) * HOUR} for n in range(10)]
    broker.produce(source, old)
    app = make_app(echo_and_count(source, copy, counts), statestore_cache_max_bytes=0)
    watched = Watched(app, broker, copy, counts)
    everything = list(range(10))
    assert watched.run() == (everything, list(range(1, 11)))
    assert watched.run() == ([], []), "it goes on where it was"
    offsets = tmp_path / "offsets.csv"
    offsets.write_text(f"{source},0,8\n")
    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime((now - 3.5 * HOUR) / 1000))
    for words, first in (
        (("--to-offset", "4"), 4),
        (("--shift-by", "-3"), 7),
        (("--to-datetime", moment), 7),
        (("--by-duration", "PT5H30M"), 5),
        (("--from-file", str(offsets)), 8),
        (("--to-earliest", "--input-topics", source), 0),
    ):
        watched.reset(*words)
        assert broker.group(app.application_id) == {(source, 0): first}
        left = everything[first:]
        assert watched.run() == (left, list(range(1, len(left) + 1))), words
    watched.reset("--to-latest")
    broker.produce(source, [{"key": "k", "value": "10"}])
    assert watched.run() == ([10], [1])
    capsys.readouterr()

    app.clean_up()
    broker.produce(source, [{"key": "k", "value": "11"}])
    assert watched.run() == ([11], [1]), "stores are empty, offsets are kept"


def test_app_is_not_reset_while_it_runs(make_app, topic):
    app = make_app(echo_and_count(topic("in"), topic("copy"), topic("counts")))
    with app:
        with pytest.raises(TidemillError, match="runs already") as refused:
            app.reset()
        assert refused.value.code == "ALREADY_RUNNING"


def test_state_lost_after_a_reset_is_not_taken_for_the_reset(make_app, broker, topic, tmp_path):
    """The app ran since: its group has moved on from where the reset put it."""
    source = topic("in")
    broker.produce(source, [{"key": "k", "value": "1"}])
    app = make_app(echo_and_count(source, topic("copy"), topic("counts")))
    app.reset(to_earliest=True)
    begin = (app.config.folder / "begin.json").read_text()
    assert json.loads(begin) == {"offsets": {source: {"0": 0}}}
    commit_offsets(broker.admin, app.application_id, {(source, 0): 1})
    with pytest.raises(TidemillError) as refused:
        app.start()
    assert refused.value.code == "CHECKPOINT_MISSING"


@pytest.fixture
def at_rest(broker, topic):
    """The plan of an app with an input, an intermediate topic, a global table and a store, and its group."""
    orders, between, cities = topic("orders", partitions=2), topic("between"), topic("cities")
    builder = StreamsBuilder()
    stream = builder.stream(orders, key=serdes.string, value=serdes.string)
    stream.to(between)
    builder.stream(between, key=serdes.string, value=serdes.string).group_by_key().count(store="totals")
    builder.global_table(cities, key=serdes.string, value=serdes.string, store="cities")
    name = f"rest-{orders}"
    for number in range(5):
        broker.produce(orders, [{"value": str(number), "partition": number % 2}])
        broker.produce(between, [{"value": str(number)}])
        broker.produce(cities, [{"key": str(number), "value": "x"}])
    commit_offsets(broker.admin, name, {(orders, 0): 2, (orders, 1): 1, (between, 0): 3, (cities, 0): 4})
    return name, builder.build().to_json(), (orders, between, cities)


def planned(broker, tmp_path, at_rest, **request):
    name, topology, _ = at_rest
    return plan_reset(
        broker.admin,
        name,
        folder=tmp_path / name,
        checkpoint=str(tmp_path / name / "checkpoint"),
        topology=topology,
        request=ResetRequest.of(request.pop("target", {}), **request),
    )


def moved(plan):
    return {(move.topic, move.partition): move.new for move in plan.moves}


def test_topics_have_their_part_in_a_reset(broker, tmp_path, at_rest):
    name, topology, (orders, between, cities) = at_rest
    assert Topics.of(topology).whole == (cities,)
    everything = planned(broker, tmp_path, at_rest)
    assert moved(everything) == {(orders, 0): 0, (orders, 1): 0, (between, 0): 5, (cities, 0): 0}
    late = planned(broker, tmp_path, at_rest, target={"to_latest": True})
    assert moved(late) == {(orders, 0): 3, (orders, 1): 2, (between, 0): 5, (cities, 0): 0}
    one = planned(broker, tmp_path, at_rest, input_topics=[between], intermediate_topics=[])
    assert moved(one) == {(between, 0): 0, (cities, 0): 0}
    assert one.kept == {orders: {"0": 2, "1": 1}}, "what is not named stays where it is"
    assert everything.groups == (f"{name}-markers",)


def test_only_topics_of_its_own_are_deleted(broker, tmp_path, at_rest, topic):
    name = at_rest[0]
    own, other = f"{name}-totals-changelog", f"{name}-two-sums-changelog"
    letters = topic("letters")
    for wanted in (own, other, f"{name}-markers"):
        broker.admin.create(wanted, partitions=1)
    plan = planned(broker, tmp_path, at_rest)
    assert set(plan.topics) == {own, f"{name}-markers"}
    assert plan.left_alone == (other,), "it may be the topic of an app whose id begins like ours"
    asked = planned(broker, tmp_path, at_rest, internal_topics=[other], dead_letter_topics=[letters])
    assert set(asked.topics) == {other, f"{name}-markers", letters}


def test_what_cannot_be_reset_is_refused_before_anything_changes(broker, tmp_path, at_rest, topic):
    stranger = topic("stranger")
    for request, kind, said in (
        ({"input_topics": ["nowhere"]}, NotFound, "topic `nowhere` does not exist; nothing was changed"),
        ({"input_topics": [stranger]}, UsageError, "the app does not read"),
        ({"internal_topics": [stranger]}, UsageError, "is no internal topic of the app"),
        ({"target": {"to_latest": True, "shift_by": 1}}, UsageError, "more than one place to move to"),
    ):
        with pytest.raises(kind, match=said):
            planned(broker, tmp_path, at_rest, **request)
    with pytest.raises(NotFound, match="neither state nor a group"):
        plan_reset(
            broker.admin,
            "no-such-app",
            folder=tmp_path / "x",
            checkpoint="",
            topology=None,
            request=ResetRequest(),
        )


def test_dry_run_changes_nothing(broker, tmp_path, at_rest, capsys):
    name, _, (orders, _, _) = at_rest
    folder = state_of(tmp_path, at_rest)
    before = broker.group(name)
    words = ["app", "reset", name, "--state-dir", str(tmp_path), "--dry-run", "-b", broker.servers]
    assert tidemill(words) == 0
    told = capsys.readouterr()
    assert f"{orders}\t0\t2\t0\n" in told.out
    assert f"delete state\t{folder / 'checkpoint'}\n" in told.out
    assert "Nothing was changed" in told.err
    assert broker.group(name) == before
    assert (folder / "checkpoint" / "offsets" / "0").exists()
    assert tidemill([*words[:-3], "-b", broker.servers]) == 2, "without a terminal it needs --yes"
    assert broker.group(name) == before


def state_of(tmp_path: Path, at_rest) -> Path:
    folder = tmp_path / at_rest[0]
    (folder / "checkpoint" / "offsets").mkdir(parents=True)
    (folder / "checkpoint" / "offsets" / "0").write_text("v1")
    (folder / "logs").mkdir()
    note = {"version": 1, "tasks": 1, "depth": 1, "levels": {}, "topology": at_rest[1]}
    (folder / "app.json").write_text(json.dumps(note))
    return folder


KILLED = """
import os, signal, sys
from pathlib import Path
from tidemill.kafka.admin import Admin
from tidemill.kafka.settings import Settings
from tidemill.runtime.reset import reset
from tidemill.runtime.reset_plan import ResetRequest, prepare_reset

servers, name, folder, last = sys.argv[1:]
admin = Admin(Settings.of({"bootstrap.servers": servers}))
plan = prepare_reset(
    admin, name, folder=Path(folder), checkpoint=folder + "/checkpoint",
    request=ResetRequest.of({"shift_by": -1}),
)
reset(plan, admin, after_step=lambda step: os.kill(os.getpid(), signal.SIGKILL) if step == last else None)
"""


@pytest.mark.parametrize("last", [name for name, _ in STEPS[:-1]])
def test_reset_that_was_killed_is_finished(broker, tmp_path, at_rest, make_app, last, capsys):
    name, _, (orders, between, cities) = at_rest
    folder = state_of(tmp_path, at_rest)
    broker.admin.create(f"{name}-totals-changelog", partitions=1)
    killed = subprocess.run([sys.executable, "-c", KILLED, broker.servers, name, str(folder), last])
    assert killed.returncode == -9
    assert unfinished_reset(folder) is not None

    builder = StreamsBuilder()
    builder.stream(orders).to(between)
    with pytest.raises(TidemillError, match=r"a reset .* was interrupted") as refused:
        make_app(builder, application_id=name, state_dir=tmp_path).start()
    assert refused.value.code == "RESET_UNFINISHED"
    command = ["app", "reset", name, "--state-dir", str(tmp_path), "--yes", "-b", broker.servers]
    assert tidemill([*command, "--to-latest"]) == VerificationFailed.exit_code, "another reset than the first"

    assert tidemill(command) == 0, capsys.readouterr().err
    assert sorted(path.name for path in folder.iterdir() if path.is_file()) == [
        "begin.json",
        "engine.lock",
        "lock",
        "run.json",
    ]
    assert not (folder / "checkpoint").exists()
    assert not broker.admin.exists(f"{name}-totals-changelog")
    # Shifted once, however often it was begun.
    wanted = {(orders, 0): 1, (orders, 1): 0, (between, 0): 5, (cities, 0): 0}
    assert broker.group(name) == wanted
    begin = json.loads((folder / "begin.json").read_text())["offsets"]
    assert {(topic, int(part)): at for topic, parts in begin.items() for part, at in parts.items()} == wanted
