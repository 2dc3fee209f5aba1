"""The list of Kafka Streams' features: where each one stands in Tidemill, and which test proves it."""

from conformance.parity.declaring import BUILDER, OPTIONS
from conformance.parity.model import Group, Row, Status, Tier
from conformance.parity.processing import PROCESSORS, TIME
from conformance.parity.running import APP, DELIVERY, ERRORS
from conformance.parity.settings import SETTINGS
from conformance.parity.stores import SERDES, STORES
from conformance.parity.streams import AGGREGATIONS, STATELESS, WINDOWS
from conformance.parity.tables import JOINS, TABLES
from conformance.parity.watching import METRICS, QUERIES, TESTING, TOOLS

__all__ = ["GROUPS", "ROWS", "Group", "Row", "Status", "Tier"]

GROUPS: tuple[Group, ...] = (
    BUILDER,
    STATELESS,
    AGGREGATIONS,
    TABLES,
    JOINS,
    OPTIONS,
    WINDOWS,
    STORES,
    SERDES,
    PROCESSORS,
    TIME,
    DELIVERY,
    APP,
    ERRORS,
    QUERIES,
    METRICS,
    TESTING,
    TOOLS,
    SETTINGS,
)
ROWS: tuple[Row, ...] = tuple(row for group in GROUPS for row in group.rows)
