"""Steps of the Python tier as plans for its tasks; the table of the kernel's lowerings has its pair here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql.types import ArrayType, DataType, StructType

from tidemill.engine import serdes
from tidemill.engine.lowering import Lowering, Types
from tidemill.engine.operators.source import source_types
from tidemill.engine.python import functions
from tidemill.engine.python.program import (
    FoldPlan,
    KeeperPlan,
    MapPlan,
    NodePlan,
    PassPlan,
    ProcessPlan,
    TransformPlan,
    ValuePlan,
)
from tidemill.engine.steps import Step, read_only_stores
from tidemill.engine.types import data_type
from tidemill.serde.base import Serde
from tidemill.topology import PythonFunction, TopologyError
from tidemill.topology.nodes import (
    Cogroup,
    Filter,
    FlatMap,
    FlatMapValues,
    Fold,
    Foreach,
    ForeignKeyJoin,
    GlobalStore,
    GlobalTableSource,
    GroupBy,
    Join,
    Kind,
    Map,
    MapValues,
    Merge,
    Node,
    Peek,
    Print,
    Process,
    ProcessValues,
    Reduce,
    SelectKey,
    Sink,
    StreamAggregate,
    StreamSource,
    TableAggregate,
    TableTableJoin,
    TableToStream,
    TransformValues,
)

Folded = Callable[[int, Any, Any, Any], Any]
"""A fold of (input, key, value, aggregate)."""


def lower_python(low: Lowering, step: Step) -> NodePlan:
    """The plan of a step; its types are noted for the steps after it."""
    plan, types = _lowered(low, step)
    low.types[step.name] = types
    return plan


def _lowered(low: Lowering, step: Step) -> tuple[NodePlan, Types]:
    node = step.node
    match node:
        case StreamSource():
            return PassPlan(name=step.name), source_types(node)
        case Sink() | Merge() | TableToStream():
            return PassPlan(name=step.name), low.input_types(step)
        case GlobalStore() | GlobalTableSource():
            return _keeper(low, step, node), source_types(node)
        case Process():
            return _process(low, step, node)
        case TransformValues():
            return _transform(low, step, node)
        case StreamAggregate(window=None, op=Reduce() as op):
            return _fold(low, step, node, _folding(node, op), low.input_types(step).value)
        case StreamAggregate(window=None, op=Fold() as op):
            return _fold(low, step, node, _folding(node, op), _returns(node, op.fn))
        case Cogroup(window=None):
            fns = [_python(node, fn) for fn in node.aggregators]
            return _fold(low, step, node, functions.Cogrouping(node.init, fns), _same_result(node, fns))
        case TableAggregate(op=Fold() | Reduce()):
            return _regrouped(low, step, node)
        case StreamAggregate(op=Fold() | Reduce()):
            return _folded_windows(low, step, node)
        case Join() if len(step.inputs) == 1:
            return _joined(low, step, node)
        case _:
            return _mapper(low, step)


def _process(low: Lowering, step: Step, node: Process) -> tuple[NodePlan, Types]:
    assert callable(node.supplier)
    incoming = low.input_types(step)
    fed = read_only_stores(low.topology, node)
    plan = ProcessPlan(
        name=step.name,
        place=_place(node),
        supplier=node.supplier,
        writable=frozenset(store.name for store in node.stores) - set(fed) - _global_stores(low),
        readable=frozenset(fed) | _global_stores(low),
        fed=tuple(fed),
        fixed_key=isinstance(node, ProcessValues),
    )
    return plan, Types(_type(node.key, incoming.key), _type(node.value, incoming.value))


def _transform(low: Lowering, step: Step, node: TransformValues) -> tuple[NodePlan, Types]:
    assert callable(node.supplier)
    incoming = low.input_types(step)
    fed = read_only_stores(low.topology, node)
    plan = TransformPlan(
        name=step.name,
        place=_place(node),
        supplier=node.supplier,
        store=None if node.store is None else node.store.name,
        writable=frozenset(store.name for store in node.stores) - set(fed) - _global_stores(low),
        readable=frozenset(fed) | _global_stores(low),
        fed=tuple(fed),
    )
    return plan, Types(incoming.key, _type(node.value, incoming.value))


def _keeper(low: Lowering, step: Step, node: GlobalStore | GlobalTableSource) -> NodePlan:
    supplier = node.supplier if isinstance(node, GlobalStore) else None
    readable = _global_stores(low) - {node.store.name}
    return KeeperPlan(
        name=step.name, place=_place(node), store=node.store.name, supplier=supplier, readable=readable
    )


def _fold(
    low: Lowering,
    step: Step,
    node: StreamAggregate | Cogroup | TableAggregate,
    fold: Folded,
    result: DataType,
) -> tuple[NodePlan, Types]:
    incoming = low.input_types(step)
    plan = FoldPlan(
        name=step.name,
        place=_place(node),
        store=node.store.name,
        keys=serdes.default_serde(incoming.key),
        values=serdes.default_serde(result),
        fold=fold,
        cached=low.is_cached(node.store),
    )
    return plan, Types(incoming.key, result)


def _folded_windows(low: Lowering, step: Step, node: StreamAggregate) -> tuple[NodePlan, Types]:
    """A fold of the values that the kernel gathered in a window."""
    incoming, op = low.input_types(step), node.op
    assert isinstance(op, Fold | Reduce)
    if isinstance(op, Reduce):
        assert isinstance(incoming.value, ArrayType)
        assert isinstance(incoming.value.elementType, StructType)
        result = incoming.value.elementType["value"].dataType
    else:
        result = _returns(node, op.fn)
    plan = ValuePlan(
        name=step.name,
        place=_place(node),
        fn=functions.FoldedValues(_folding(node, op)),
        store=node.store.name if node.store.queryable else None,
    )
    return plan, Types(incoming.key, result)


def _regrouped(low: Lowering, step: Step, node: TableAggregate) -> tuple[NodePlan, Types]:
    """An aggregate of a table's rows, which the kernel has put under their new key."""
    op, rows = node.op, low.input_types(step).value
    assert isinstance(op, Fold | Reduce)
    assert isinstance(rows, StructType)
    subtractor = _python(node, op.subtractor)
    take_back = functions.TakingBack(subtractor) if isinstance(op, Reduce) else subtractor.fn
    result = rows["add"].dataType if isinstance(op, Reduce) else _returns(node, op.fn)
    return _fold(low, step, node, functions.Regrouping(_folding(node, op), take_back), result)


def _folding(node: Node, op: Fold | Reduce) -> Folded:
    fn = _python(node, op.fn)
    return functions.Reducing(fn) if isinstance(op, Reduce) else functions.Folding(op.init, fn)


def _same_result(node: Node, fns: list[PythonFunction]) -> DataType:
    first, *rest = (data_type(fn.returns) for fn in fns)
    if all(type_ == first for type_ in rest):
        return first
    raise TopologyError(
        "the functions of this step return different types",
        node=node.name,
        place=node.place,
        remedy="they make one aggregate: say the same returns= in all of them",
    )


def _joined(low: Lowering, step: Step, node: Join) -> tuple[NodePlan, Types]:
    """A join whose pairs the kernel found."""
    joiner = _python(node, node.joiner)
    store = node.store if isinstance(node, TableTableJoin | ForeignKeyJoin) else None
    plan = ValuePlan(
        name=step.name,
        place=_place(node),
        fn=functions.JoinedValues(joiner, node.with_key),
        store=store.name if store is not None and store.queryable else None,
    )
    return plan, Types(low.input_types(step).key, data_type(joiner.returns))


def _mapper(low: Lowering, step: Step) -> tuple[NodePlan, Types]:
    node, types = step.node, low.input_types(step)
    match node:
        case Filter(predicate=predicate, with_key=with_key, negate=negate):
            return _map(node, predicate, functions.Filtering(with_key, negate)), types
        case MapValues(fn=fn, with_key=with_key):
            return _map(node, fn, functions.Values(with_key)), Types(types.key, _returns(node, fn))
        case FlatMapValues(fn=fn, with_key=with_key):
            element = _element(node, _returns(node, fn))
            return _map(node, fn, functions.FlatValues(with_key)), Types(types.key, element)
        case SelectKey(fn=fn) | GroupBy(fn=fn):
            return _map(node, fn, functions.Keys()), Types(_returns(node, fn), types.value)
        case Map(fn=fn):
            return _map(node, fn, functions.Pairs()), _pair(node, _returns(node, fn))
        case FlatMap(fn=fn):
            return _map(node, fn, functions.FlatPairs()), _pair(node, _element(node, _returns(node, fn)))
        case Peek(action=action, with_key=with_key):
            return _map(node, action, functions.Seen(with_key, ends=False)), types
        case Foreach(action=action, with_key=with_key):
            return _map(node, action, functions.Seen(with_key, ends=True)), types
        case Print(label=label, file=file, mapper=mapper):
            return _map(node, mapper or functions.as_text, functions.Printed(label, file)), types
    raise TopologyError(
        f"{node.type_name} cannot call a function of Python values",
        node=node.name,
        place=node.place,
        remedy="use python_fn() in map, filter, reduce, aggregate and joins of streams, or a Processor",
    )


def _map(node: Node, fn: Callable[..., Any], records: Any) -> NodePlan:
    inner = fn.fn if isinstance(fn, PythonFunction) else fn
    return MapPlan(name=node.name, place=_place(node), fn=inner, records=records)


def _python(node: Node, fn: Any) -> PythonFunction:
    if isinstance(fn, PythonFunction):
        return fn
    raise TopologyError(
        "one function of this step takes Python values, another takes Columns",
        node=node.name,
        place=node.place,
        remedy="wrap all functions of the step in python_fn()",
    )


def _returns(node: Node, fn: Any) -> DataType:
    return data_type(_python(node, fn).returns)


def _element(node: Node, type_: DataType) -> DataType:
    if isinstance(type_, ArrayType):
        return type_.elementType
    raise TopologyError(
        f"the function returns {type_.simpleString()}, not an array",
        node=node.name,
        place=node.place,
        remedy='say what the list holds, for instance returns="array<string>"',
    )


def _pair(node: Node, type_: DataType) -> Types:
    if isinstance(type_, StructType) and len(type_) == 2:
        return Types(type_[0].dataType, type_[1].dataType)
    raise TopologyError(
        f"the function returns {type_.simpleString()}, not a pair",
        node=node.name,
        place=node.place,
        remedy='say the types of the pair, for instance returns="key string, value bigint"',
    )


def _global_stores(low: Lowering) -> frozenset[str]:
    """Stores any processor may read."""
    return frozenset(
        node.store.name
        for node in low.topology
        if isinstance(node, GlobalTableSource)
        or (isinstance(node, GlobalStore) and node.kind is Kind.NOTHING)
    )


def _type(given: Serde | None, incoming: DataType) -> DataType:
    return incoming if given is None else data_type(given.schema)


def _place(node: Node) -> str | None:
    return None if node.place is None else str(node.place)
