from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kafka_core.admin import AdminClient
from kserdes.cli.dev.command import dev
from registry.client.blocking import SchemaRegistryClient
from registry.models import Schema
from tests.later import later
from tests.patience import PROCESS_S

FREE = ("--kafka-port", "0", "--registry-port", "0")
SHOW = "import json, os, sys; print(json.dumps([os.environ['KAFKA_BOOTSTRAP'], os.environ['SCHEMA_REGISTRY_URL']])); "


def run(*arguments: str) -> Result:
    return CliRunner().invoke(dev, arguments, catch_exceptions=False)


def child(code: str) -> tuple[str, ...]:
    return ("--", sys.executable, "-c", SHOW + code)


@pytest.fixture
def served() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "kserdes.cli", "dev", *FREE, "--topic", "orders:3"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with process:
        yield process
        process.kill()


def started(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Bootstrap servers and URL, as they are printed to be pasted."""
    assert process.stdout is not None
    found: dict[str, str] = {}
    for line in process.stdout:
        if line.strip().startswith("export "):
            name, _, value = line.strip().removeprefix("export ").partition("=")
            found[name] = value
        if line.startswith("Ctrl-C"):
            break
    return found["KAFKA_BOOTSTRAP"], found["SCHEMA_REGISTRY_URL"]


@pytest.mark.parametrize("name", [signal.SIGINT, signal.SIGTERM])
def test_both_are_served_until_a_signal_ends_them(served: subprocess.Popen[str], name: signal.Signals) -> None:
    bootstrap, url = started(served)
    with SchemaRegistryClient({"url": url}) as client:
        assert client.register_schema("o", Schema('"int"')) == 1
    topics = AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=60).topics
    assert len(topics["orders"].partitions) == 3
    served.send_signal(name)
    out, err = served.communicate(timeout=PROCESS_S)
    assert (served.returncode, out, err) == (0, "stopped\n", "")


def test_a_command_runs_with_the_addresses_and_gives_its_status(capfd: pytest.CaptureFixture[str]) -> None:
    code = "import socket; host, port = os.environ['KAFKA_BOOTSTRAP'].split(':');"
    code += "socket.create_connection((host, int(port))).close(); sys.exit(3)"
    result = run(*FREE, *child(code))
    assert result.exit_code == 3
    bootstrap, url = json.loads(capfd.readouterr().out)
    assert bootstrap.startswith("127.0.0.1:")
    assert url.startswith("http://127.0.0.1:")


def test_a_killed_command_has_the_shells_status() -> None:
    assert run(*FREE, *child("os.kill(os.getpid(), 15)")).exit_code == 128 + 15


def test_a_request_to_end_goes_to_the_command() -> None:
    code = "import signal, sys, time; signal.signal(15, lambda *_: sys.exit(7)); print('ready', flush=True)"
    code += "\nwhile True: time.sleep(0.1)"
    command = [sys.executable, "-m", "kserdes.cli", "dev", *FREE, "--", sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.terminate()
        assert process.wait(timeout=PROCESS_S) == 7


def test_a_request_to_end_that_ends_no_system_call_goes_to_the_command_too() -> None:
    def ask() -> None:
        while signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            time.sleep(0.01)
        signal.pthread_kill(threading.get_ident(), signal.SIGTERM)  # the main thread goes on with its system call

    with later(0.0, ask):
        assert run(*FREE, *child("import time; time.sleep(60)")).exit_code == 128 + 15


def test_a_signal_at_any_moment_of_the_wait_ends_it() -> None:
    """The handler runs between any two lines of the wait: it may want no lock that the wait may hold."""
    code = """
        import signal, sys, threading
        from kserdes.cli.shell import serving

        def line(frame, event, arg):
            global left
            if event == "line" and signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
                left -= 1
                if left == 0:
                    signal.raise_signal(signal.SIGTERM)
            return line

        for moment in range(1, 40):
            left = moment
            sys.settrace(line)
            serving.wait_for_end()
            sys.settrace(None)
        """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, timeout=PROCESS_S)


def test_schemas_are_kept_in_the_file(tmp_path: Path) -> None:
    data = ("--data", str(tmp_path / "registry.db"))
    code = "from registry.client.blocking import SchemaRegistryClient as C; from registry.models import Schema; "
    code += "c = C({'url': os.environ['SCHEMA_REGISTRY_URL']}); "
    assert run(*FREE, *data, *child(code + "c.register_schema('o', Schema('\"int\"'))")).exit_code == 0
    assert run(*FREE, *data, *child(code + "sys.exit(0 if c.get_subjects() == ['o'] else 1)")).exit_code == 0


@pytest.mark.parametrize("arguments", [[], ["--advertised-host", "localhost"]], ids=["own address", "a name"])
def test_all_interfaces_advertise_something_reachable(arguments: list[str]) -> None:
    code = """
from kafka_core.admin import AdminClient
from registry import SchemaRegistryClient
admin = AdminClient({'bootstrap.servers': os.environ['KAFKA_BOOTSTRAP']})
hosts = [broker.host for broker in admin.list_topics('t').brokers.values()]
with SchemaRegistryClient({'url': os.environ['SCHEMA_REGISTRY_URL']}) as client:
    print(json.dumps([hosts, client.get_subjects()]))
"""
    command = [sys.executable, "-m", "kserdes.cli", "dev", *FREE, "--host", "0.0.0.0", *arguments, *child(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PROCESS_S)
    assert done.returncode == 0, done.stderr
    (bootstrap, url), (hosts, subjects) = map(json.loads, done.stdout.splitlines())
    assert subjects == []
    assert hosts == [bootstrap.rpartition(":")[0]]
    assert url.startswith(f"http://{hosts[0]}:")
    assert "0.0.0.0" not in (*hosts, bootstrap, url)
    assert not arguments or hosts == ["localhost"]


def test_a_port_in_use_is_a_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        broker = run("--kafka-port", port, "--registry-port", "0")
        registry = run("--kafka-port", "0", "--registry-port", port)
    assert (broker.exit_code, registry.exit_code) == (2, 2)
    assert f"the broker can't listen on port {port} of 127.0.0.1: " in broker.stderr
    assert f"the registry can't listen on port {port} of 127.0.0.1: " in registry.stderr
    assert "--registry-port 0 takes a free one" in registry.stderr


def test_ports_that_do_not_exist_and_hosts_that_do_not() -> None:
    many = run("--kafka-port", "65534", "--registry-port", "0", "--brokers", "3", *child(""))
    host = run(*FREE, "--host", "nobody.invalid", *child(""))
    assert (many.exit_code, host.exit_code) == (2, 2)
    assert "3 brokers need ports 65534 to 65536" in many.stderr
    assert "can't listen on port 0 of nobody.invalid: " in host.stderr


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--topic", "orders:many"], "is not NAME:PARTITIONS"),
        (["--topic", "no good"], "topic 'no good' can't be created"),
        (["--data", os.devnull + "/x.db"], "can't hold the registry"),
        (["--", "no-such-command-at-all"], "no-such-command-at-all can't be run"),
    ],
)
def test_mistakes_are_sentences(arguments: list[str], text: str) -> None:
    result = run(*FREE, *arguments)
    assert result.exit_code == 2
    assert text in result.stderr
