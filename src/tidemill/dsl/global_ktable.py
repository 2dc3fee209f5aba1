"""GlobalKTable: a table every worker holds whole."""

from __future__ import annotations

from tidemill.dsl.handle import Handle


class GlobalKTable(Handle):
    """A global table: streams join it by any key, without a shuffle.

    >>> from tidemill import StreamsBuilder
    >>> StreamsBuilder().global_table("countries", store="countries")
    <GlobalKTable global-table-countries>
    """

    __slots__ = ()

    @property
    def queryable_store_name(self) -> str | None:
        """The name of the store that can be queried, or None where the user named none.

        >>> from tidemill import StreamsBuilder
        >>> StreamsBuilder().global_table("countries", store="countries").queryable_store_name
        'countries'
        """
        stores = self._draft.nodes[self._node].owned_stores
        return next((store.name for store in stores if store.queryable), None)
