"""Users' functions: called with Columns, checked, and turned into evaluators for the kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.errors import AnalysisException, PySparkException, PySparkValueError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, BooleanType, DataType, NullType, StructField, StructType

from tidemill.dsl import record
from tidemill.engine.types import data_type
from tidemill.topology import TopologyError
from tidemill.topology.nodes import Node

HEADERS = "array<struct<key:string,value:binary>>"
_METADATA = (
    f"{record.TIMESTAMP} timestamp, {record.HEADERS} {HEADERS}, {record.TOPIC} string, "
    f"{record.PARTITION} int, {record.OFFSET} bigint"
)

Arguments = Mapping[str, DataType]


@dataclass(frozen=True, slots=True)
class Function:
    """A user's function, ready for the kernel: a Java evaluator and the type of its result."""

    evaluator: Any
    type: DataType


class Columns:
    """Calls users' functions on columns of given types; one per plan."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._java = spark._jvm.io.tidemill.spark.Columns  # type: ignore[union-attr]
        self._frames: dict[str, DataFrame] = {}
        self.instead_of_udf = (
            "use Spark functions here, or call the UDF in a map_values right after the source"
        )

    def of_record(
        self, node: Node, result: Callable[[Column, Column], Any], key: DataType, value: DataType
    ) -> Function:
        """A function of (key, value) that may also read the record's headers, timestamp and place."""
        frame = self._frame({"key": key, "value": value}, metadata=True)
        return self._resolved(node, frame, lambda: result(F.col("key"), F.col("value")))

    def of(
        self, node: Node, result: Callable[..., Any], arguments: Arguments, cast: DataType | None = None
    ) -> Function:
        """A function of these arguments, in their order; its result is cast if a type is given."""
        frame = self._frame(arguments)
        return self._resolved(node, frame, lambda: result(*(F.col(name) for name in arguments)), cast)

    def type_of_record(
        self, node: Node, result: Callable[[Column, Column], Any], key: DataType, value: DataType
    ) -> DataType:
        """The type of a function of (key, value) that Spark itself will run: a Python UDF may be in it."""
        frame = self._frame({"key": key, "value": value}, metadata=True)
        return self._selected(node, frame, lambda: result(F.col("key"), F.col("value"))).schema[0].dataType

    def type_of(self, node: Node, result: Callable[..., Any], arguments: Arguments) -> DataType:
        """The type of a function of these arguments that Spark itself will run."""
        frame = self._frame(arguments)
        call = lambda: result(*(F.col(name) for name in arguments))  # noqa: E731
        return self._selected(node, frame, call).schema[0].dataType

    def predicate_type(
        self, node: Node, result: Callable[[Column, Column], Any], key: DataType, value: DataType
    ) -> None:
        """Refuse a predicate that is neither true nor false."""
        type_ = self.type_of_record(node, result, key, value)
        if not isinstance(type_, BooleanType | NullType):
            raise TopologyError(
                f"the predicate returns {type_.simpleString()}, not true or false",
                node=node.name,
                place=node.place,
                remedy="compare the value with something, for instance `value > 3`",
            )

    def struct_type_of_record(
        self, node: Node, result: Callable[[Column, Column], Any], key: DataType, value: DataType
    ) -> StructType:
        """As `type_of_record`, for a function that returns a pair."""
        type_ = self.type_of_record(node, lambda k, v: _struct(node, result(k, v)), key, value)
        assert isinstance(type_, StructType)
        return type_

    def array_type_of_record(
        self, node: Node, result: Callable[[Column, Column], Any], key: DataType, value: DataType
    ) -> ArrayType:
        """As `type_of_record`, for a function that returns an array."""
        type_ = self.type_of_record(node, lambda k, v: array_of(result(k, v)), key, value)
        if not isinstance(type_, ArrayType):
            raise _no_array(node, type_)
        return type_

    def pair_of_record(
        self, node: Node, result: Callable[[Column, Column], Any], key: DataType, value: DataType
    ) -> tuple[Function, Function]:
        """A function of (key, value) that returns a pair of Columns."""
        first = self.of_record(node, lambda k, v: pair_of(node, result(k, v))[0], key, value)
        second = self.of_record(node, lambda k, v: pair_of(node, result(k, v))[1], key, value)
        return first, second

    def struct_of_record(
        self, node: Node, result: Callable[[Column, Column], Any], key: DataType, value: DataType
    ) -> Function:
        """A function of (key, value) that returns a pair of Columns, as one struct."""
        return self.of_record(node, lambda k, v: _struct(node, result(k, v)), key, value)

    def array_of_record(
        self, node: Node, result: Callable[[Column, Column], Any], key: DataType, value: DataType
    ) -> tuple[Function, DataType]:
        """A function of (key, value) that returns an array, and the type of its elements."""
        function = self.of_record(node, lambda k, v: array_of(result(k, v)), key, value)
        if not isinstance(function.type, ArrayType):
            raise _no_array(node, function.type)
        return function, function.type.elementType

    def spark_aggregate(
        self, node: Node, result: Callable[[Column, Column], Any], key: DataType, value: DataType
    ) -> tuple[Any, DataType]:
        """An aggregate Column such as F.sum(value), as a kernel folder and the type of its result."""
        frame = self._frame({"key": key, "value": value})
        column = _called(node, lambda: result(F.col("key"), F.col("value")))
        try:
            aggregated = frame.agg(column.alias("result"))
            folder = self._java.folder(aggregated._jdf)
        except PySparkException as error:
            raise _unresolved(node, error) from error
        except Exception as error:
            raise _not_an_aggregate(node, error) from error
        return folder, aggregated.schema[0].dataType

    def located(self, node: Node, result: Column, topic: Column, partition: Column, offset: Column) -> Column:
        """A result whose failure tells the step and the record it was about."""
        place = None if node.place is None else str(node.place)
        where = (topic._jc, partition._jc, offset._jc)
        kernel: Any = self._spark._jvm
        return Column(kernel.io.tidemill.problem.Located.of(result._jc, *where, node.name, place))

    def tried(self, evaluator: Any, first: Column, second: Column) -> Column:
        """What a function gives for two columns as `result`, or what it threw."""
        kernel: Any = self._spark._jvm
        return Column(kernel.io.tidemill.problem.Tried.of(evaluator, first._jc, second._jc))

    def _resolved(
        self, node: Node, frame: DataFrame, call: Callable[[], Any], cast: DataType | None = None
    ) -> Function:
        selected = self._selected(node, frame, call, cast)
        if self._java.callsPython(selected._jdf):
            raise _python_inside(node, self.instead_of_udf)
        return Function(self._java.evaluators(selected._jdf)[0], selected.schema[0].dataType)

    def _selected(
        self, node: Node, frame: DataFrame, call: Callable[[], Any], cast: DataType | None = None
    ) -> DataFrame:
        column = _called(node, call)
        if cast is not None:
            column = column.cast(cast)
        try:
            return frame.select(column.alias("result"))
        except AnalysisException as error:
            raise _unresolved(node, error) from error

    def _frame(self, columns: Mapping[str, DataType], *, metadata: bool = False) -> DataFrame:
        schema = StructType([StructField(name, type_) for name, type_ in columns.items()])
        text = schema.json() + str(metadata)
        if text not in self._frames:
            if metadata:
                schema = StructType([*schema.fields, *_metadata()])
            self._frames[text] = self._spark.createDataFrame([], schema)
        return self._frames[text]


def _called(node: Node, call: Callable[[], Any]) -> Column:
    try:
        result = call()
    except TopologyError:
        raise
    except PySparkValueError as error:
        raise TopologyError(
            "the function treats a Column like a value (if, and, or, not, in)",
            node=node.name,
            place=node.place,
            remedy="write `F.when(condition, a).otherwise(b)` for if, and `&`, `|`, `~` for and, or, not",
        ) from error
    except Exception as error:
        raise TopologyError(
            f"the function failed: {type(error).__name__}: {error}",
            node=node.name,
            place=node.place,
            remedy="it gets Spark Columns, once, and returns a Column; use python_fn() for plain Python",
        ) from error
    return _column(node, result)


def _column(node: Node, result: Any) -> Column:
    if isinstance(result, Column):
        return result
    if result is None or isinstance(result, bool | int | float | str | bytes):
        return F.lit(result)
    raise TopologyError(
        f"the function returned {type(result).__name__}, not a Column",
        node=node.name,
        place=node.place,
        remedy="return a Column made from the arguments, for instance `value + 1` or `F.upper(value)`",
    )


def pair_of(node: Node, result: Any) -> tuple[Column, Column]:
    if isinstance(result, tuple | list) and len(result) == 2:
        return _column(node, result[0]), _column(node, result[1])
    raise TopologyError(
        "the function must return a pair (key, value)",
        node=node.name,
        place=node.place,
        remedy="write `lambda key, value: (new_key, new_value)`",
    )


def _struct(node: Node, result: Any) -> Column:
    first, second = pair_of(node, result)
    return F.struct(first.alias("key"), second.alias("value"))


def array_of(result: Any) -> Any:
    """What a function returned as an array Column: a Column as it is, a list of Columns or pairs as one."""
    if not isinstance(result, Sequence) or isinstance(result, str | bytes):
        return result
    return F.array(
        *(
            F.struct(F.lit(item[0]).alias("key"), F.lit(item[1]).alias("value"))
            if isinstance(item, tuple)
            else item
            for item in result
        )
    )


def _no_array(node: Node, type_: DataType) -> TopologyError:
    return TopologyError(
        f"the function returns {type_.simpleString()}, not an array",
        node=node.name,
        place=node.place,
        remedy="return an array Column, for instance F.split(value, ' ')",
    )


def _unresolved(node: Node, error: PySparkException) -> TopologyError:
    condition = error.getCondition() or "an analysis error"
    parameters = error.getMessageParameters() or {}
    if condition == "MISSING_GROUP_BY":
        return TopologyError(
            "the function returns no aggregate",
            node=node.name,
            place=node.place,
            remedy="return one aggregate such as F.sum(value), or give an initial value and a function",
        )
    name = parameters.get("objectName") or parameters.get("fieldName")
    proposal = parameters.get("proposal") or parameters.get("fields")
    if name and proposal:
        return TopologyError(
            f"there is no field {name}",
            node=node.name,
            place=node.place,
            remedy=f"there are: {proposal}",
        )
    first = str(error).split("\n")[0].removeprefix(f"[{condition}] ").split(" SQLSTATE")[0]
    return TopologyError(
        first, node=node.name, place=node.place, remedy="compare the types of what you combine"
    )


def _python_inside(node: Node, remedy: str) -> TopologyError:
    return TopologyError(
        "the function calls a Python UDF, which cannot run inside this step",
        node=node.name,
        place=node.place,
        remedy=remedy,
    )


def _not_an_aggregate(node: Node, error: Exception) -> TopologyError:
    text = str(getattr(error, "java_exception", error)).split("\n")[0]
    return TopologyError(
        f"this aggregate cannot be kept up to date record by record: {text}",
        node=node.name,
        place=node.place,
        remedy="return one aggregate such as F.sum(value), or give an initial value and a function",
    )


def _metadata() -> list[StructField]:
    type_ = data_type(_METADATA)
    assert isinstance(type_, StructType)
    return type_.fields
