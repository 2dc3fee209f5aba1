"""Schemas: one DDL type from whatever people have."""

from __future__ import annotations

import dataclasses
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple, Optional, TypedDict
from uuid import UUID

import pytest

from tidemill.serde import SerdeError, ddl_of


class Colour(Enum):
    RED = 1


@dataclasses.dataclass
class Line:
    sku: str
    count: int


@dataclasses.dataclass
class Order:
    id: int
    paid: bool
    amount: Decimal
    weight: float
    raw: bytes
    at: datetime
    day: date
    lines: list[Line]
    notes: dict[str, str]
    city: Optional[str]  # noqa: UP045  the old spelling is what is tested
    zip: int | None
    colour: Colour
    state: Literal["open", "closed"]
    size: Annotated[int, "cm"]
    ref: UUID
    corners: tuple[float, ...]


class Point(NamedTuple):
    x: int
    y: float


class Dict(TypedDict):
    name: str


@dataclasses.dataclass
class Tree:
    children: list[Tree]


class Field:
    def __init__(self, annotation: Any) -> None:
        self.annotation = annotation


class Model:
    """Looks like a pydantic model, without the dependency."""

    model_fields: dict[str, Field] = {"id": Field(int), "line": Field(Line)}  # noqa: RUF012


class SparkType:
    """Looks like a Spark type."""

    def simpleString(self) -> str:
        return "struct<a:int>"

    def json(self) -> str:
        return "{}"


def test_dataclass_becomes_a_struct() -> None:
    assert ddl_of(Order) == (
        "struct<id:bigint,paid:boolean,amount:decimal(38,18),weight:double,raw:binary,at:timestamp,day:date,"
        "lines:array<struct<sku:string,count:bigint>>,notes:map<string,string>,city:string,zip:bigint,"
        "colour:string,state:string,size:bigint,ref:string,corners:array<double>>"
    )


@pytest.mark.parametrize(
    ("schema", "ddl"),
    [
        (Point, "struct<x:bigint,y:double>"),
        (Dict, "struct<name:string>"),
        (Model, "struct<id:bigint,line:struct<sku:string,count:bigint>>"),
        (SparkType(), "struct<a:int>"),
        (SparkType, "struct<a:int>"),
        (list[int], "array<bigint>"),
        ("bigint", "bigint"),
        ("decimal(10, 2)", "decimal(10, 2)"),
        ("a INT", "struct<a INT>"),
        ("a: int, b: array<string>", "struct<a: int, b: array<string>>"),
        ("  struct<a:int>  ", "struct<a:int>"),
        ("interval day to second", "interval day to second"),
    ],
)
def test_schema_in_any_form(schema: Any, ddl: str) -> None:
    assert ddl_of(schema) == ddl


def test_real_pydantic_model_is_taken() -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Order", id=(int, ...), lines=(list[str], ...), note=(str | None, None))
    assert ddl_of(model) == "struct<id:bigint,lines:array<string>,note:string>"


def test_real_spark_type_is_taken() -> None:
    types = pytest.importorskip("pyspark.sql.types")
    struct = types.StructType([types.StructField("a", types.LongType())])
    assert ddl_of(struct) == "struct<a:bigint>"
    assert ddl_of(types.StringType()) == "string"


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (complex, "no Spark type"),
        (int | str, "several types"),
        (Tree, "contains itself"),
        ("", "empty"),
        (list, "no Spark type"),
        (42, "no Spark type"),
    ],
)
def test_what_has_no_type_is_told(schema: Any, words: str) -> None:
    with pytest.raises(SerdeError, match=words):
        ddl_of(schema)


def test_class_of_a_function_that_names_another_is_told() -> None:
    @dataclasses.dataclass
    class Inner:
        a: int

    @dataclasses.dataclass
    class Outer:
        inner: Inner

    with pytest.raises(SerdeError, match="not known at module level"):
        ddl_of(Outer)
