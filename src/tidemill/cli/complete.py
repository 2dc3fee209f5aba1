"""Names for the shell's completion, looked up on the cluster within a blink or not at all."""

from __future__ import annotations

from typing import Any

LIMIT = 0.3


def topic_names(ctx: Any, incomplete: str) -> list[str]:
    """Topics that begin so."""
    return [name for name in _lookup(ctx, _topics) if name.startswith(incomplete)]


def group_names(ctx: Any, incomplete: str) -> list[str]:
    """Groups that begin so."""
    return [name for name in _lookup(ctx, _groups) if name.startswith(incomplete)]


def profile_names(ctx: Any, incomplete: str) -> list[str]:  # noqa: ARG001 -- the signature Typer calls
    """Profiles that begin so."""
    from tidemill.kafka import profiles

    return [name for name in profiles.profile_names() if name.startswith(incomplete)]


def _lookup(ctx: Any, names: Any) -> list[str]:
    from tidemill.cli.session import Options, Session

    options = Options()
    while ctx is not None:
        given = {name: ctx.params.get(name) for name in Options.names() if name in ctx.params}
        given.update({name: value for name, value in vars(options).items() if value and name != "setting"})
        options.take(given)
        ctx = ctx.parent
    try:
        from tidemill.kafka.clients import open_admin

        client, _ = open_admin(Session(options).settings)
        found: list[str] = names(client)
    except Exception:  # noqa: BLE001 -- a completion that fails says nothing
        return []
    return sorted(found)


def _topics(client: Any) -> list[str]:
    return [name for name in client.list_topics(timeout=LIMIT).topics if not name.startswith("__")]


def _groups(client: Any) -> list[str]:
    return [
        group.group_id for group in client.list_consumer_groups(request_timeout=LIMIT).result(LIMIT).valid
    ]
