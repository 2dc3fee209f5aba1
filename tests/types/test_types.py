"""Types are values: equal by content, printed and read back in two notations, refused with a place."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemill.types import (
    BIGINT,
    INTEGER,
    STRING,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Scalar,
    Struct,
    TypeTextError,
    children,
    columns_ddl,
    parse_ddl,
    parse_sql,
    rebuilt,
    to_ddl,
    to_sql,
    walk,
)

SPARK_ONLY = {Scalar.BYTE, Scalar.SHORT, Scalar.FLOAT, Scalar.TIMESTAMP_NTZ, Scalar.NULL}
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=8)


def types(scalars: list[Scalar], *, not_null: bool) -> st.SearchStrategy[DataType]:
    decimals = st.integers(1, 60).flatmap(lambda p: st.builds(Decimal, st.just(p), st.integers(0, p)))
    nullable = st.booleans() if not_null else st.just(True)
    return st.recursive(
        st.sampled_from(scalars) | decimals,
        lambda inner: st.one_of(
            st.builds(Array, inner),
            st.builds(Map, inner, inner),
            st.builds(Struct, st.lists(st.builds(Field, NAMES, inner, nullable), max_size=4).map(tuple)),
        ),
        max_leaves=12,
    )


@given(types(list(Scalar), not_null=True))
def test_spark_ddl_is_read_back(type_: DataType) -> None:
    assert parse_ddl(to_ddl(type_)) == type_


@given(types([s for s in Scalar if s not in SPARK_ONLY], not_null=False))
def test_sql_notation_is_read_back(type_: DataType) -> None:
    assert parse_sql(to_sql(type_)) == type_


@given(types(list(Scalar), not_null=True))
def test_equal_types_have_equal_hashes_and_survive_pickling(type_: DataType) -> None:
    copy = pickle.loads(pickle.dumps(type_))
    assert copy == type_
    assert hash(copy) == hash(type_)


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("int", INTEGER),
        ("a int", Struct.of(a=INTEGER)),
        ("date date, `x y` long", Struct((Field("date", Scalar.DATE), Field("x y", BIGINT)))),
        (
            "a long not null comment 'it''s a', b byte",
            Struct((Field("a", BIGINT, False), Field("b", Scalar.BYTE))),
        ),
        ("struct<a:int, B: array<string>>", Struct((Field("a", INTEGER), Field("B", Array(STRING))))),
        ("struct<>", Struct()),
        ("decimal", Decimal(10, 0)),
        ("numeric(5)", Decimal(5, 0)),
        ("map<string,map<int,timestamp_ntz>>", Map(STRING, Map(INTEGER, Scalar.TIMESTAMP_NTZ))),
        ("varchar(10)", STRING),
        ("a varchar(10), b real", Struct.of(a=STRING, b=Scalar.FLOAT)),
    ],
)
def test_spark_ddl(text: str, type_: DataType) -> None:
    assert parse_ddl(text) == type_


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("varchar(STRING)", STRING),
        ("STRUCT<a INT, `b` DECIMAL(4, 2)>", Struct((Field("A", INTEGER), Field("b", Decimal(4, 2))))),
        ("array<bytes>", Array(Scalar.BYTES)),
    ],
)
def test_sql_notation(text: str, type_: DataType) -> None:
    assert parse_sql(text) == type_


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("a bigintt", 3, "did you mean BIGINT"),
        ("array<int", 10, "`>` is expected, the text ends"),
        ("array<int>>", 11, "the type ends before here"),
        ("decimal(2, 3)", 1, "DECIMAL(2, 3) cannot be"),
        ("decimal(1, 2, 3)", 1, "takes a precision and a scale"),
        ("map<int>", 8, "`,` is expected, `>` was found"),
        ("a int; b int", 6, "`;` has no place in a type"),
        ("", 1, "a name is expected, the text ends"),
        ("array<" * 200 + "int" + ">" * 200, 601, "nested deeper than 100"),
    ],
)
def test_what_is_no_type_is_refused_with_its_column(text: str, column: int, words: str) -> None:
    with pytest.raises(TypeTextError) as refused:
        parse_ddl(text)
    assert words in str(refused.value)
    assert refused.value.at + 1 == column


def test_decimal_of_sql_needs_its_digits() -> None:
    with pytest.raises(TypeTextError, match="needs its precision"):
        parse_sql("DECIMAL")


def test_texts_of_pyspark_are_understood() -> None:
    from pyspark.sql import types as spark  # the objects need no JVM

    struct = (
        spark.StructType()
        .add("a", spark.LongType())
        .add("b c", spark.ArrayType(spark.DecimalType(38, 18)))
        .add("d", spark.MapType(spark.StringType(), spark.BinaryType()))
        .add("e", spark.TimestampNTZType())
    )
    fields = [parse_ddl(field.dataType.simpleString()) for field in struct.fields]
    assert fields == [BIGINT, Array(Decimal(38, 18)), Map(STRING, Scalar.BYTES), Scalar.TIMESTAMP_NTZ]


def test_columns_are_printed_as_a_list() -> None:
    struct = parse_ddl("`1st` int, b struct<x: double> not null")
    assert isinstance(struct, Struct)
    assert columns_ddl(struct) == "`1st` INT, b STRUCT<x: DOUBLE> NOT NULL"


def test_order_case_and_null_are_part_of_a_struct() -> None:
    ab = parse_ddl("a int, b int")
    assert ab != parse_ddl("b int, a int")
    assert ab != parse_ddl("A int, b int")
    assert ab != parse_ddl("a int not null, b int")


def test_parts_are_walked_and_changed() -> None:
    type_ = parse_ddl("a int, b map<string, array<int>>")
    assert [part for part in walk(type_) if part is INTEGER] == [INTEGER, INTEGER]
    assert children(Array(STRING)) == (STRING,)
    assert rebuilt(type_, lambda part: BIGINT if part is INTEGER else part) == parse_ddl(
        "a bigint, b map<string, array<bigint>>"
    )
