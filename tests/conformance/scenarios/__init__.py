"""Every scenario, by family."""

from conformance.cases import Case
from conformance.scenarios import (
    aggregate,
    cogroup,
    emit,
    foreign_key,
    global_table,
    group_table,
    headers,
    processor,
    session,
    sliding,
    stages,
    stateless,
    stream_join,
    stream_table,
    suppress,
    table,
    table_join,
    versioned,
    windows,
)

_MODULES = (
    stateless,
    aggregate,
    windows,
    sliding,
    session,
    emit,
    cogroup,
    stream_join,
    stream_table,
    global_table,
    table,
    table_join,
    foreign_key,
    group_table,
    suppress,
    versioned,
    headers,
    processor,
    stages,
)

FAMILIES: dict[str, list[Case]] = {module.__name__.rpartition(".")[2]: module.CASES for module in _MODULES}
CASES: list[Case] = [case for cases in FAMILIES.values() for case in cases]
