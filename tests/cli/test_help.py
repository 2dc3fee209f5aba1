"""The tree of commands: every one helps, with an example, and the help is what the golden file says."""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import typer

from tidemill.cli.main import COMMANDS, app


def walk(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield path, command
    if hasattr(command, "list_commands"):
        for name in command.list_commands(None):
            yield from walk(command.get_command(None, name), (*path, name))


TREE = dict(walk(typer.main.get_command(app)))
LEAVES = {path: command for path, command in TREE.items() if not hasattr(command, "list_commands")}


def test_help_of_the_whole_tree(
    tidemill: Callable[..., Any], golden: Callable[[str, str], None], monkeypatch: Any
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    texts = []
    for path in TREE:
        result = tidemill(*path, "--help")
        assert result.code == 0
        assert result.err == ""
        texts.append(f"$ tidemill {' '.join((*path, '--help'))}\n{result.out}")
    golden("help.txt", "\n".join(texts))


def test_every_command_has_an_example() -> None:
    missing = [
        path
        for path, command in LEAVES.items()
        if f"$ tidemill {' '.join(path)}" not in command.help.replace("$(", "$ ")
    ]
    assert missing == []


def test_every_option_has_help() -> None:
    silent = [
        (path, param.name)
        for path, command in TREE.items()
        for param in command.params
        if not getattr(param, "hidden", False) and not getattr(param, "help", None)
    ]
    assert silent == []


def test_every_leaf_takes_the_common_options() -> None:
    for path, command in LEAVES.items():
        words = {word for param in command.params for word in param.opts}
        assert {"-b", "-X", "-O", "--yes", "--profile"} <= words, path


def test_the_root_tells_of_commands_what_they_tell_themselves() -> None:
    for name, entry in COMMANDS.items():
        command = typer.main.get_command(import_module(entry.module).app)
        assert command.help
        if hasattr(command, "list_commands"):
            assert command.help.splitlines()[0] == entry.help, name


def test_no_arguments_is_help(tidemill: Callable[..., Any]) -> None:
    assert tidemill().out == tidemill("--help").out
    assert tidemill("-h").out == tidemill("--help").out


def test_aliases(tidemill: Callable[..., Any]) -> None:
    assert tidemill("topic", "list", "--help").code == 0
    assert tidemill("group", "list", "--help").code == 0


def test_a_mistyped_command_gets_a_suggestion(tidemill: Callable[..., Any]) -> None:
    result = tidemill("topcs", "list")
    assert result.code == 2
    assert "No such command 'topcs'. Did you mean topics or topic or top?" in result.err


def test_a_wrong_option_is_usage(tidemill: Callable[..., Any]) -> None:
    assert tidemill("topics", "list", "--nonsense").code == 2
    assert tidemill("topics", "create").code == 2
    assert tidemill("-O", "xml", "topics", "list").code == 2
