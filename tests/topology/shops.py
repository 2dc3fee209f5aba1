"""Topologies the tests look at, small enough to read and wide enough to hold every kind of step."""

from __future__ import annotations

from tidemill import (
    FixedKeyProcessor,
    Processor,
    StreamsBuilder,
    Topology,
    TopologyBuilder,
    ValueTransformer,
    serdes,
    state_store,
    suppressed,
    windows,
)


def _never(*columns: object) -> None:
    raise AssertionError("the front end calls no function of the user")


def word_count() -> Topology:
    """The classic: split lines, group by word, count."""
    builder = StreamsBuilder()
    lines = builder.stream("lines", value=serdes.string)
    words = lines.flat_map_values(lambda value: _never(value))
    counts = words.group_by(lambda key, value: _never(key, value), key=serdes.string, name="by-word")
    counts.count(store="counts").to_stream().to("word-counts")
    return builder.build()


def shop() -> Topology:
    """Streams, tables and a global table that meet."""
    builder = StreamsBuilder()
    orders = builder.stream("orders", key=serdes.string, value=serdes.json("user string, amount double"))
    users = builder.table(
        "users", key=serdes.string, value=serdes.json("name string, city string"), store="users"
    )
    countries = builder.global_table("countries", key=serdes.string, value=serdes.string)
    by_user = orders.select_key(lambda key, value: _never(key, value), key=serdes.string)
    named = by_user.left_join(users, lambda order, user: _never(order, user), name="with-user")
    placed = named.join(
        countries,
        lambda key, left, right: _never(key, left, right),
        key=lambda key, value: _never(key, value),
    )
    branches = placed.split().branch(lambda value: _never(value), name="big").default_branch(name="small")
    branches["big"].to("big-orders")
    branches["small"].to(lambda key, value: _never(key, value), value=serdes.json("total double"))
    users.group_by(lambda key, value: (_never(key), value), key=serdes.string, name="by-city").count(
        store="users-by-city"
    )
    return builder.build()


def hourly() -> Topology:
    """Windows of every kind, closed, suppressed and joined."""
    builder = StreamsBuilder()
    clicks = builder.stream(
        "clicks", key=serdes.string, value=serdes.long, timestamp=lambda value: _never(value)
    )
    views = builder.stream("views", key=serdes.string, value=serdes.long, offset_reset="by_duration:PT1H")
    grouped = clicks.group_by_key()
    sums = grouped.windowed_by(windows.hopping("1 hour", "10 min", grace="5 min")).aggregate(
        lambda key, value: _never(key, value), value=serdes.long
    )
    sums.suppress(suppressed.until_window_closes(max_records=1000)).to_stream().to("hourly")
    grouped.windowed_by(windows.sliding("10 s")).reduce(lambda a, b: _never(a, b))
    grouped.windowed_by(windows.tumbling("1 day")).emit_strategy("close").count()
    grouped.windowed_by(windows.session("30 min")).aggregate(
        0, lambda key, value, n: _never(key, value, n), merger=lambda key, a, b: _never(key, a, b)
    )
    joined = clicks.outer_join(views, lambda left, right: _never(left, right), windows.join("5 min", after=0))
    joined.repartition(name="spread").print(label="joined")
    cogrouped = grouped.cogroup(lambda key, value, n: _never(key, value, n))
    cogrouped = cogrouped.cogroup(views.group_by_key(), lambda key, value, n: _never(key, value, n))
    cogrouped.windowed_by(windows.unlimited()).aggregate(0, store="activity")
    return builder.build()


def tables() -> Topology:
    """Joins of tables, by key and by foreign key, with history and without."""
    builder = StreamsBuilder()
    orders = builder.table("orders", key=serdes.long, value=serdes.json("user bigint"), store="orders")
    users = builder.table("users", key=serdes.long, value=serdes.string)
    prices = builder.table("prices", key=serdes.long, value=serdes.double, versioned="1 hour")
    rich = orders.join(
        users, lambda order, user: _never(order, user), foreign_key=lambda value: _never(value)
    )
    rich.outer_join(users, lambda left, right: _never(left, right), store="both")
    rich.filter(lambda value: _never(value)).map_values(lambda value: _never(value), store="names")
    builder.stream("sales", key=serdes.long, value=serdes.long).join(
        prices, lambda sale, price: _never(sale, price), grace="5 s", name="priced"
    ).to("priced-sales")
    builder.stream("addresses", key=serdes.long, value=serdes.string).to_table(store="addresses").suppress(
        suppressed.until_time_limit("5 s", max_records=10)
    ).transform_values(Smooth, value=serdes.string)
    return builder.build()


class Smooth(ValueTransformer):
    """Brings a store of its own."""

    stores = (state_store("smoothed", key=serdes.long, value=serdes.double),)


class Totals(Processor):
    """Uses what it is given."""


class Clean(FixedKeyProcessor):
    """Keeps the key."""


def processors() -> Topology:
    """The low-level way, with shared, global and read-only stores."""
    builder = TopologyBuilder()
    builder.add_source("in", ["web", "shop"], key=serdes.string, value=serdes.long)
    builder.add_processor("totals", Totals, "in").add_processor("again", "io.example.Again", "totals")
    builder.add_state_store(state_store("seen", key=serdes.string, value=serdes.long), "totals", "again")
    builder.add_global_store("rates", state_store("rates"), "rates", Totals)
    builder.add_read_only_state_store("names", state_store("names"), "names")
    builder.add_sink("out", "totals", "again", key=serdes.string, value=serdes.long)
    return builder.build()


ALL = {
    "word_count": word_count,
    "shop": shop,
    "hourly": hourly,
    "tables": tables,
    "processors": processors,
}
