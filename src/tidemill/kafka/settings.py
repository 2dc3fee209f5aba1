"""How to reach a cluster: client settings in either dialect, with secrets kept out of sight."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tidemill.errors import UsageError
from tidemill.kafka.names import is_java_only, to_java, to_librdkafka
from tidemill.kafka.properties import read_properties
from tidemill.kafka.secrets import MASK, has_placeholder, is_secret_name, resolve_placeholders

DEFAULT_BOOTSTRAP = "127.0.0.1:9092"


@dataclass(frozen=True)
class Setting:
    """One setting: its raw value (placeholders unresolved) and where it was said."""

    name: str
    raw: str = field(repr=False)
    source: str

    @property
    def is_secret(self) -> bool:
        return is_secret_name(self.name)

    @property
    def shown(self) -> str:
        """The value fit for eyes: a secret is masked unless it is only a placeholder."""
        return MASK if self.is_secret and not has_placeholder(self.raw) else self.raw


class Settings(Mapping[str, str]):
    """Client settings, later ones over earlier ones; printing them shows no secret.

    >>> settings = Settings.of({"bootstrap.servers": "k:9092", "sasl.password": "hunter2"})
    >>> settings
    Settings(bootstrap.servers=k:9092, sasl.password=***)
    >>> settings.bootstrap_servers
    'k:9092'
    """

    def __init__(self, entries: Iterable[Setting] = ()) -> None:
        self._entries = {entry.name: entry for entry in entries}

    @classmethod
    def of(cls, values: Mapping[str, object], *, source: str = "code") -> Settings:
        return cls(Setting(name, _text(value), source) for name, value in values.items())

    @classmethod
    def from_file(cls, path: Path) -> Settings:
        """Settings of a properties file, Java names accepted."""
        return cls.of(read_properties(path), source=str(path))

    @classmethod
    def from_pairs(cls, pairs: Iterable[str], *, source: str = "-X") -> Settings:
        """Settings of `name=value` words, as the command line gives them."""
        values: dict[str, str] = {}
        for pair in pairs:
            name, separator, value = pair.partition("=")
            if not separator or not name.strip():
                raise UsageError(
                    f"`{pair}` is not a setting", where=source, remedy=f"write {source} name=value"
                )
            values[name.strip()] = value
        return cls.of(values, source=source)

    def over(self, lower: Settings) -> Settings:
        """These settings on top of others."""
        return Settings([*lower.entries(), *self.entries()])

    def entries(self) -> list[Setting]:
        return list(self._entries.values())

    @property
    def bootstrap_servers(self) -> str:
        raw = self._entries.get("bootstrap.servers") or self._entries.get("metadata.broker.list")
        return DEFAULT_BOOTSTRAP if raw is None else raw.raw

    def librdkafka(self) -> dict[str, str]:
        """Resolved settings under librdkafka's names. Holds secrets: pass it to a client and forget it."""
        translated, _ = to_librdkafka(self._resolved())
        translated.setdefault("bootstrap.servers", DEFAULT_BOOTSTRAP)
        return translated

    def java(self) -> dict[str, str]:
        """Resolved settings under the Java client's names. Holds secrets."""
        translated = to_java(self._resolved())
        translated.setdefault("bootstrap.servers", DEFAULT_BOOTSTRAP)
        return translated

    def ignored(self) -> list[str]:
        """Names only the Java client knows, left out of `librdkafka()`."""
        return [name for name in self if is_java_only(name)]

    def shown(self) -> dict[str, str]:
        """Every setting, secrets masked."""
        return {entry.name: entry.shown for entry in self.entries()}

    def redact(self, text: str) -> str:
        """Mask every secret value that occurs in a text, such as a client's error message."""
        for entry in self.entries():
            if entry.is_secret:
                try:
                    value = resolve_placeholders(entry.raw, setting=entry.name)
                except UsageError:
                    continue
                if len(value) > 3:
                    text = text.replace(value, MASK)
        return text

    def _resolved(self) -> dict[str, str]:
        return {
            entry.name: resolve_placeholders(entry.raw, setting=entry.name)
            for entry in self._entries.values()
        }

    def __getitem__(self, name: str) -> str:
        return self._entries[name].raw

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"Settings({', '.join(f'{name}={value}' for name, value in self.shown().items())})"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
