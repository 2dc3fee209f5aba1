"""`tidemill produce` and `tidemill consume` against a real broker."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TIDEMILL = [sys.executable, "-m", "tidemill.cli.main"]


@pytest.fixture
def name(topic: Callable[..., str]) -> str:
    return topic(partitions=1, config={"retention.ms": "-1"})  # some timestamps are of 1970


def test_lines_go_in_and_come_out(cli: Callable[..., Any], name: str) -> None:
    produced = cli("produce", name, input="one\ntwo\n\nümlaut\n")
    assert produced.code == 0
    assert produced.err == f"4 records to {name}, 0 failed\n"
    assert cli("consume", name, "-e").out == "one\ntwo\n\nümlaut\n"


def test_keys_headers_and_nulls(cli: Callable[..., Any], name: str) -> None:
    sent = cli("produce", name, "-K:", "-Z", "-H", "a=1", "-H", "b=2", input="ann:1\nbob:\nplain\n")
    assert sent.code == 0, sent
    assert cli("produce", name, "-k", "fixed", "-q", input="x\n").code == 0
    shown = cli("consume", name, "-e", "-f", r"%p %o %k=%s [%h] %S\n")
    assert shown.lines == [
        "0 0 ann=1 [a=1,b=2] 1",
        "0 1 bob= [a=1,b=2] -1",
        "0 2 =plain [a=1,b=2] 5",
        "0 3 fixed=x [] 1",
    ]


def test_json_round_trip(cli: Callable[..., Any], name: str, topic: Callable[..., str]) -> None:
    given = [
        {"key": "k", "value": "v", "headers": {"h": "1"}, "timestamp": 1000},
        {"key": None, "value": None, "timestamp": 2000},
        {"key_base64": "/w==", "value": {"a": 1}, "timestamp": 3000, "partition": 0},
    ]
    cli("produce", name, "--json", input="\n".join(json.dumps(line) for line in given))
    first = cli("consume", name, "-e", "-J")
    other = topic(partitions=1, config={"retention.ms": "-1"})
    assert cli("produce", other, "--json", input=first.out).code == 0
    second = [json.loads(line) for line in cli("consume", other, "-e", "-O", "jsonl").lines]
    assert [{**line, "topic": name} for line in second] == [json.loads(line) for line in first.lines]
    assert cli("consume", name, "-e", "-O", "json").json() == [json.loads(line) for line in first.lines]
    assert second[0]["headers"] == [{"key": "h", "value": "1"}]
    assert second[1]["value"] is None
    assert second[2]["key_base64"] == "/w=="


def test_an_empty_topic_is_an_empty_document(cli: Callable[..., Any], name: str) -> None:
    assert cli("consume", name, "-e", "-O", "json").json() == []
    assert cli("consume", name, "-e").out == ""


def test_numbers_as_kafka_streams_writes_them(cli: Callable[..., Any], name: str) -> None:
    cli("produce", name, "-k", "ann", "--value-format", "long", input="42\n-1\n")
    assert cli("consume", name, "-e", "--value-format", "long").lines == ["42", "-1"]
    assert cli("consume", name, "-e", "--value-format", "hex").lines[0] == "000000000000002a"


def test_places_to_start_and_stop(cli: Callable[..., Any], name: str) -> None:
    lines = [json.dumps({"value": str(number), "timestamp": number * 1000}) for number in range(1, 7)]
    cli("produce", name, "--json", input="\n".join(lines))

    def values(*words: str) -> list[str]:
        return list(cli("consume", name, "-e", *words).lines)

    assert values("-o", "beginning") == values("--from-beginning") == ["1", "2", "3", "4", "5", "6"]
    assert values("-o", "end") == []
    assert values("-o", "4") == ["5", "6"]
    assert values("-o", "-2") == ["5", "6"]
    assert values("-o", "s@3000") == ["3", "4", "5", "6"]
    assert values("-o", "s@3000", "-o", "e@5000") == ["3", "4"]
    assert values("-c", "2") == ["1", "2"]
    assert values("-o", "s@1970-01-01T00:00:06") == ["6"]
    assert values("-p", "0", "-o", "5") == ["6"]
    assert cli("consume", name, "--from-beginning", "--timeout", "0.5").lines == [
        "1",
        "2",
        "3",
        "4",
        "5",
        "6",
    ]


def test_what_people_see(cli: Callable[..., Any], name: str) -> None:
    cli(
        "produce",
        name,
        "--json",
        input='{"key": "ann", "value": "1", "timestamp": 1500, "headers": {"a": "b"}}',
    )
    shown = cli("consume", name, "-e", "-O", "table").out
    assert shown == f"{name}[0]@0 1970-01-01 00:00:01.500 ann → 1 {{a=b}}\n"


def test_a_group_goes_on_where_it_was(cli: Callable[..., Any], name: str) -> None:
    cli("produce", name, input="1\n2\n3\n")
    group = f"{name}-group"
    assert cli("consume", name, "-G", group, "-o", "beginning", "-c", "2").lines == ["1", "2"]
    assert cli("consume", name, "-G", group, "-o", "beginning", "-e").lines == ["3"]


def test_a_file_and_a_rate(cli: Callable[..., Any], name: str, tmp_path: Path) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_bytes(b"a\r\nb\n\xff\n")
    before = time.monotonic()
    result = cli(
        "produce", name, "--from-file", str(lines), "--rate", "10", "--compression", "zstd", "--acks", "1"
    )
    assert result.code == 0
    assert time.monotonic() - before >= 0.2
    assert cli("consume", name, "-e", "-J").lines[2].count('"value_base64": "/w=="') == 1


def test_a_record_that_is_not_delivered_fails_the_command(
    cli: Callable[..., Any], topic: Callable[..., str]
) -> None:
    name = topic(partitions=1, config={"max.message.bytes": "100"})
    result = cli("produce", name, "--rate", "2", "--acks", "1", input=f"small\n{'x' * 5000}\n")
    assert result.code == 1
    assert "1 failed" in result.err
    assert "1 not delivered (1 × MSG_SIZE_TOO_LARGE)" in result.err
    assert cli("consume", name, "-e").lines == ["small"]


@pytest.mark.parametrize(
    ("words", "data", "code", "text"),
    [
        (["--json"], "{}\nnonsense\n", 2, "standard input, line 2"),
        (["--value-format", "long"], "12x\n", 2, "`12x` is not of the format long"),
        (["-p", "9"], "x\n", 2, "partition"),
        (["--from-file", "/no/such"], "", 3, "`/no/such` does not exist"),
        (["-H", "nonsense"], "", 2, "`nonsense` is not name=value"),
        (["--compression", "zip"], "", 2, "compression"),
    ],
)
def test_what_cannot_be_produced(
    cli: Callable[..., Any], name: str, words: list[str], data: str, code: int, text: str
) -> None:
    result = cli("produce", name, *words, input=data)
    assert result.code in {code, 1} if words[0] == "-p" else result.code == code
    assert text in result.err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["-o", "middle"], 2),
        (["-o", "stored"], 2),
        (["-f", "%q"], 2),
        (["-p", "7", "-e"], 3),
        (["--from-beginning", "-o", "end"], 2),
    ],
)
def test_what_cannot_be_consumed(cli: Callable[..., Any], name: str, words: list[str], code: int) -> None:
    assert cli("consume", name, *words).code == code


def test_unknown_topics_are_not_found(cli: Callable[..., Any]) -> None:
    assert cli("consume", "no-such-topic", "-e").code == 3
    assert cli("produce", "no-such-topic", input="x\n").code == 3


def test_interrupt_ends_cleanly(kafka: Any, name: str) -> None:
    process = subprocess.Popen(
        [*TIDEMILL, "-b", kafka.bootstrap_servers, "consume", name, "--from-beginning"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A run that a shell put into the background would hand its ignored SIGINT down to the command.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    timer = threading.Timer(30, process.kill)
    timer.start()
    try:
        subprocess.run(
            [*TIDEMILL, "-b", kafka.bootstrap_servers, "produce", name],
            input=b"x\n" * 200,
            check=True,
            capture_output=True,
        )
        assert process.stdout.readline() == b"x\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    finally:
        timer.cancel()
    assert process.returncode == 130
    assert b"Traceback" not in err


def test_a_closed_pipe_is_no_error(kafka: Any, cli: Callable[..., Any], name: str) -> None:
    cli("produce", name, "-q", input="x" * 100 + "\n" + "y\n" * 20000)
    command = " ".join([*TIDEMILL, "-b", kafka.bootstrap_servers, "consume", name, "-e"])
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -c 5"],
        capture_output=True,
        timeout=60,
        env=os.environ,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"xxxxx", b"")
