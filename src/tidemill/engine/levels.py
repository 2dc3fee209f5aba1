"""The levels of a plan, one stateful operator each, and the ports that lead from one to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import BinaryType, StructType

from tidemill.engine import frames
from tidemill.engine.encoding import encoded
from tidemill.engine.exposed import Exposed, expose
from tidemill.engine.fixed import RowForm, fixed
from tidemill.engine.handlers import Handlers, Outcome
from tidemill.engine.lowering import Lowering, Types, lower
from tidemill.engine.meeting import Meeting
from tidemill.engine.operators.join import direct_answer_types
from tidemill.engine.operators.source import source_types
from tidemill.engine.placement import Partitions
from tidemill.engine.python.level import python_operator, python_program
from tidemill.engine.python.lowering import lower_python
from tidemill.engine.python.program import Settings
from tidemill.engine.session import COUNTED_BY_SPARK
from tidemill.engine.steps import Role, Step, source_steps
from tidemill.engine.types import java_type
from tidemill.topology import StoreSpec, TopologyError
from tidemill.topology.nodes import ForeignKeyJoin, Sink, StreamGlobalJoin, StreamTableJoin

PROBLEMS = "problems"
"""The port of records that could not be read or processed; it passes every level."""


@dataclass(frozen=True, slots=True)
class Port:
    """A way out of a level: which step's records take it, their types, and where they go."""

    name: str
    step: str
    types: Types
    level: int | None = None
    """The level that takes the records in; None for those that leave the topology."""
    target: str = ""
    slot: int = 0
    replicated: bool = False
    """Whether every task of that level gets each record."""
    stays: bool = False
    """Whether a record stays in its task: each task has its own copy."""


class Levels:
    """Builds one level after the other. What leaves a level waits until its own level comes, or is output."""

    def __init__(
        self,
        low: Lowering,
        sources: Mapping[str, DataFrame],
        tasks: Sequence[int],
        dropped: Any,
        *,
        ticks: DataFrame | None = None,
        settings: Settings | None = None,
        from_kafka: bool = False,
        placed: bool = False,
        lone: bool = False,
        in_batches: bool = False,
        handlers: Handlers | None = None,
        in_place: bool = False,
        grown: Mapping[str, Sequence[int]] | None = None,
        meeting: Meeting | None = None,
    ) -> None:
        self._low = low
        self._meeting = meeting or Meeting()
        self._from_kafka = from_kafka
        self._placed = placed
        self._lone = lone
        self._in_batches = in_batches
        self._sources = sources
        self._tasks = tasks
        self._dropped = dropped
        self._ticks = ticks
        self._settings = settings or Settings()
        self._handlers = handlers or Handlers()
        self._in_place = in_place
        self._grown = grown or {}
        self.stores: dict[str, StoreSpec] = {}
        """The stores of levels in Python, as they are kept."""
        self.tables: dict[str, Exposed] = {}
        self._nodes = self._lowered()
        self._problems = Port(PROBLEMS, "", Types(BinaryType(), BinaryType()))
        self._waiting: list[Port] = [self._problems] if self._handlers.are_needed else []
        self._frame: DataFrame | None = None

    def add(self, level: int) -> None:
        """Put the operator of a level behind what there is."""
        steps = self._low.plan.on_level(level)
        arriving = [port for port in self._waiting if port.level == level]
        passing = [port for port in self._waiting if port.level != level]
        readers = source_steps(self._low.plan) if level == 0 else []
        beyond = [port for step in readers for port in self._ports_of_source(step)]
        leaving = [*beyond, *(_sink_port(self._low, s) for s in steps if isinstance(s.node, Sink))]
        outputs = [*passing, *leaving, *self._shuffles(steps)]
        schema = frames.output_schema([port.types for port in outputs])
        if self._low.plan.is_python(level):
            plans = {step.name: self._nodes[level, step.name] for step in steps}
            around = (readers, arriving, passing, outputs)
            problems = None
            if self._handlers.processing is not Outcome.FAIL:
                problems = outputs.index(self._problems)
            tasks = python_program(
                self._low, steps, plans, *around, settings=self._settings, problems=problems
            )
            self.stores |= tasks.stores
            frame = self._input(readers, arriving, passing, self._grown, self._meeting.shuffled())
            self._frame = python_operator(frame, tasks, schema)
        else:
            program = self._program(level, steps, readers, arriving, passing, outputs)
            direct = self._is_direct(level, readers, program)
            grown = self._grown
            if self._in_place or (direct and program.isStateless()):
                # What keeps nothing reads as many partitions as there are, each where it is.
                self._refuse_growth(outputs)
                grown = {}
            direct = direct and not grown
            meeting = self._meeting if direct else self._meeting.shuffled()
            stays = self._in_place or (direct and self._placed)
            form = RowForm.KEPT if stays else RowForm.BINARY
            frame = self._input(readers, arriving, passing, grown, meeting, form)
            self._frame = self._operator(frame, program, schema, direct=direct)
        self._waiting = outputs

    def output(self, partitions: Partitions) -> DataFrame:
        """Rows ready for a sink, whose topics have so many partitions."""
        assert self._frame is not None
        sinks = []
        for port in self._waiting:
            node = None if port is self._problems else self._low.topology[port.step]
            assert node is None or isinstance(node, Sink)
            sinks.append((node, port.types))
        # Whoever brings barriers of his own wants to see them again; ticks end here.
        frame = self._frame if self._ticks is None else frames.without_barriers(self._frame)
        tasks = None if self._in_place else self._tasks
        rows = encoded(frame, sinks, self._low.columns, self._handlers, tasks, partitions)
        return self._fixed(rows, RowForm.PASSING)

    def _operator(self, frame: DataFrame, program: Any, schema: StructType, *, direct: bool) -> DataFrame:
        """The operator around a program: a stateful one, or a map over partitions if it keeps nothing."""
        spark = self._low.spark
        kernel: Any = spark._jvm.io.tidemill  # type: ignore[union-attr]
        rows, output = frame._jdf, java_type(spark, schema)
        if self._in_place:
            # Without state there is nothing to gather by task: records are processed where they were read.
            return DataFrame(kernel.task.StatelessTask.apply(rows, program, output), spark)
        if self._placed or (direct and self._lone):
            carried = self._in_batches and not (direct and program.isStateless())
            rows = kernel.plan.TaskLayout.apply(rows, len(self._tasks), direct, carried)
        if direct and program.isStateless():
            return DataFrame(kernel.task.StatelessTask.apply(rows, program, output), spark)
        in_order = direct and self._placed
        counting = spark.conf.get(COUNTED_BY_SPARK, "true") == "false"
        return DataFrame(kernel.task.TaskProcessor.apply(rows, program, output, in_order, counting), spark)

    def _is_direct(self, level: int, readers: list[Step], program: Any) -> bool:
        """Whether all rows of a level come from Kafka partitions that are tasks of their own."""
        plan = self._low.plan
        # What keeps nothing would be no operator of Spark's then: that must not change with the way.
        met_here = self._meeting.in_place and self._placed and not program.isStateless()
        return (
            self._from_kafka
            and level == 0
            and self._ticks is None
            and (met_here or not any(s.name in plan.keyed and plan.levels.get(s.name) == 0 for s in readers))
            and not any(frames.is_replicated(step, plan) for step in readers)
        )

    def _refuse_growth(self, outputs: list[Port]) -> None:
        """Refuse state that is kept by partition in another operator than the one that reads."""
        kept = next((port for port in outputs if port.level is not None and port.stays), None)
        if self._grown and kept is not None:
            raise TopologyError(
                f"`{kept.target}` keeps its state by the partitions of a topic that got more of them: "
                + ", ".join(self._grown),
                node=kept.target,
                remedy="reset the app, or re-key the stream in front of it with select_key or group_by",
            )

    def _lowered(self) -> dict[tuple[int, str], Any]:
        """Kernel nodes by level and step, in the plan's order: a later level's types may be needed early."""
        low = self._low
        on_level = [low.plan.on_level(level) for level in range(low.plan.depth)]
        nodes = {}
        for step in low.plan.steps.values():
            for level, steps in enumerate(on_level):
                if step in steps:
                    low.index = {each.name: position for position, each in enumerate(steps)}
                    in_python = low.plan.is_python(level)
                    nodes[level, step.name] = lower_python(low, step) if in_python else lower(low, step)
        return nodes

    def _program(
        self,
        level: int,
        steps: list[Step],
        readers: list[Step],
        arriving: list[Port],
        passing: list[Port],
        outputs: list[Port],
    ) -> Any:
        """The kernel program: the level's nodes, then entries and exits around them."""
        low, nodes = self._low, self._low.nodes
        problems = self._plan_of_problems(steps, outputs)
        program = low.spark._jvm.io.tidemill.task.Program(self._dropped, problems, len(outputs))  # type: ignore[union-attr]
        index = {step.name: program.add(self._nodes[level, step.name]) for step in steps}
        for step in steps:
            for slot, edge in enumerate(step.inputs):
                if not edge.shuffled and edge.parent in index and not self._only_looked_up(step, slot):
                    program.connect(index[edge.parent], index[step.name], slot)
        entries = {step.name: program.add(nodes.Pass(f"{step.name}/read")) for step in readers}
        for name, entry in entries.items():
            if name in index:
                program.connect(entry, index[name], 0)
        for port in arriving:
            entries[port.name] = program.add(nodes.Pass(f"{port.name}/in"))
            program.connect(entries[port.name], index[port.target], port.slot)
        for port in passing:
            entries[port.name] = program.add(nodes.Pass(f"{port.name}/pass"))
        for position, port in enumerate(outputs):
            exit_ = program.add(nodes.Output(port.name, position, _needs_key(port)))
            if port in passing:
                parent = entries[port.name]
            else:
                # A port that hands a source on takes what was read, all others what the step made of it.
                parent = entries[port.step] if ">read" in port.name else index[port.step]
                if port.target in low.partials and port.level is not None:
                    parent = self._combined(program, parent, port)
            program.connect(parent, exit_, 0)
        for name, entry in entries.items():
            if any(name == step.name for step in readers):
                program.enterFromTopic(entry)
            else:
                program.enter(entry)
        if self._settings.mocked_clock:
            self.tables |= expose(low, program, steps, index)
        return program

    def _combined(self, program: Any, parent: int, port: Port) -> int:
        """A node behind `parent` that folds the records of a batch before they leave by a port."""
        partial = self._low.partials[port.target]
        key = self._low.java_type(partial.types.key)
        node = program.add(self._low.nodes.Combine(f"{port.name}/combine", key, partial.folder))
        program.connect(parent, node, 0)
        return int(node)

    def _plan_of_problems(self, steps: list[Step], outputs: list[Port]) -> Any:
        """What the kernel does with a record that cannot be processed, and how it tells the steps."""
        kernel = self._low.spark._jvm.io.tidemill.problem.Plan  # type: ignore[union-attr]
        if self._handlers.processing is Outcome.FAIL:
            plan = kernel.fail()
        else:
            plan = kernel.goOn(outputs.index(self._problems), self._handlers.application_id)
        for step in steps:
            node = step.node
            plan.declare(step.name, node.name, None if node.place is None else str(node.place))
        return plan

    def _only_looked_up(self, step: Step, slot: int) -> bool:
        """Whether an input is a table that is asked for rows and does not send its changes."""
        return slot == 1 and isinstance(step.node, StreamTableJoin | StreamGlobalJoin)

    def _ports_of_source(self, step: Step) -> list[Port]:
        """Sources are read on the first level; what a later level reads is passed on to it."""
        plan = self._low.plan
        types = source_types(step.node)
        if step.name in plan.levels:
            level = plan.levels[step.name]
            stays = step.name not in plan.keyed
            port = Port(f"{step.name}>read", step.name, types, level, step.name, stays=stays)
            return [port] if level else []
        asked = [level for level in range(plan.depth) if step in plan.on_level(level)]
        # A first level that has the table replicates it already: each task hands on its own copy.
        return [
            Port(
                f"{step.name}>read{level}", step.name, types, level, step.name, 0, 0 not in asked, 0 in asked
            )
            for level in asked
            if level
        ]

    def _shuffles(self, steps: list[Step]) -> list[Port]:
        here = {step.name for step in steps}
        ports = []
        for step in self._low.plan.steps.values():
            for slot, edge in enumerate(step.inputs):
                if edge.parent in here and (edge.shuffled or self._is_handed_on(edge.parent, step.name)):
                    types = self._low.types[edge.parent]
                    if step.name in self._low.partials:
                        types = self._low.partials[step.name].types
                    if isinstance(step.node, ForeignKeyJoin) and step.role is Role.WHOLE and slot == 1:
                        types = direct_answer_types(self._low, step.node)
                    level = self._low.plan.levels[step.name]
                    name = f"{edge.parent}>{step.name}.{slot}"
                    stays = not edge.shuffled
                    ports.append(Port(name, edge.parent, types, level, step.name, slot, stays=stays))
        # A subscribing step sends requests by its first way out and answers by its second.
        return sorted(ports, key=lambda port: self._low.plan.steps[port.target].role is Role.WHOLE)

    def _is_handed_on(self, parent: str, child: str) -> bool:
        """Whether records go on in another operator, in the same task: to Python or back."""
        levels = self._low.plan.levels
        return parent in levels and child in levels and levels[parent] != levels[child]

    def _input(
        self,
        readers: list[Step],
        arriving: list[Port],
        passing: list[Port],
        grown: Mapping[str, Sequence[int]],
        meeting: Meeting,
        form: RowForm = RowForm.BINARY,
    ) -> DataFrame:
        types = [source_types(step.node) for step in readers] + [port.types for port in (*arriving, *passing)]
        problems = len(readers) + (passing.index(self._problems) if self._problems in passing else 0)
        reading = frames.Reading(self._low.columns, self._handlers, problems, grown, meeting)
        parts = []
        for source in dict.fromkeys(id(self._sources[step.name]) for step in readers):
            mine = [(n, s) for n, s in enumerate(readers) if id(self._sources[s.name]) == source]
            frame = self._sources[mine[0][1].name]
            parts.append(frames.decoded(frame, mine, self._low.plan, types, self._tasks, reading))
        if self._frame is None and self._ticks is not None:
            parts.append(frames.decoded(self._ticks, [], self._low.plan, types, self._tasks, reading))
        if self._frame is not None:
            before = {port.name: position for position, port in enumerate(self._waiting)}
            moves = [
                _move(before[port.name], n, port, port in arriving)
                for n, port in enumerate((*arriving, *passing))
            ]
            parts.append(frames.moved(self._frame, moves, types, self._tasks))
        return reduce(DataFrame.unionAll, (self._fixed(part, form) for part in parts))

    def _fixed(self, frame: DataFrame, form: RowForm) -> DataFrame:
        """Spare the planner of batches what is the same in all of them."""
        return fixed(frame, form) if self._in_batches else frame


def _sink_port(low: Lowering, step: Step) -> Port:
    return Port(step.name, step.name, low.types[step.name])


def _needs_key(port: Port) -> bool:
    """Records without a key are left out before a shuffle by key, but not on the way from a source."""
    return port.level is not None and ">read" not in port.name and not port.stays


def _move(old: int, new: int, port: Port, arrives: bool) -> frames.Move:
    by_key = arrives and not port.replicated and not port.stays
    return frames.Move(old, new, by_key=by_key, replicated=arrives and port.replicated)
