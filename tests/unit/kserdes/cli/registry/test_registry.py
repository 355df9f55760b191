from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
from click.testing import CliRunner

from kserdes.cli.registry.group import registry
from registry import ResponseError, Schema, SchemaRegistryClient

HANG_S = 120.0


@contextlib.contextmanager
def started(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A process that serves, and its URL."""
    command = [sys.executable, "-m", "kserdes.cli", "registry", "serve", "--port", "0", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                pytest.fail(process.communicate(timeout=HANG_S)[1])
            assert process.stdout.readline() == "Ctrl-C stops it.\n"
            yield process, line.split()[-1]
        finally:
            process.kill()


def ended(process: subprocess.Popen[str]) -> str:
    """Its stderr, after it was asked to end."""
    process.send_signal(signal.SIGTERM)
    out, error = process.communicate(timeout=HANG_S)
    assert (process.returncode, out.splitlines()[-1]) == (0, "stopped")
    return error


def test_users_tls_and_a_file(tmp_path: Path) -> None:
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    issued.private_key_pem.write_to_path(tmp_path / "key.pem")
    issued.cert_chain_pems[0].write_to_path(tmp_path / "chain.pem")
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    (tmp_path / "users.txt").write_text("# who may come\n\nann:s3:cret\n")
    arguments = [
        f"--{name}={tmp_path / file}"
        for name, file in (
            ("users", "users.txt"),
            ("certificate", "chain.pem"),
            ("key", "key.pem"),
            ("data", "registry.db"),
        )
    ]
    conf = {"ssl.ca.location": str(tmp_path / "ca.pem"), "basic.auth.user.info": "ann:s3:cret"}
    with started(*arguments) as (process, url):
        assert url.startswith("https://")
        with SchemaRegistryClient({"url": url, **conf}) as client:
            client.register_schema("orders-value", Schema('"int"'))
        with SchemaRegistryClient({"url": url, **conf, "basic.auth.user.info": "ann:wrong"}) as stranger:
            with pytest.raises(ResponseError) as refused:
                stranger.get_subjects()
            assert refused.value.http_status_code == 401
        assert ended(process) == ""
    with started(*arguments) as (process, url):
        with SchemaRegistryClient({"url": url, **conf}) as client:
            assert client.get_subjects() == ["orders-value"]
        ended(process)


def test_a_registry_that_others_can_reach_without_protection_warns() -> None:
    with started("--host", "0.0.0.0") as (process, url):
        assert "//0.0.0.0:" not in url, "no client can connect to a wildcard"
        with SchemaRegistryClient({"url": url}) as client:
            assert client.get_subjects() == []
        assert "others than this machine can reach the registry, without --users and --certificate" in ended(process)


def test_a_registry_shows_the_host_that_it_is_told_to() -> None:
    with started("--host", "0.0.0.0", "--advertised-host", "localhost") as (process, url):
        assert url.startswith("http://localhost:")
        ended(process)


@pytest.mark.parametrize(
    ("users", "text"),
    [
        ("ann\n", "line 1, is not USER:PASSWORD"),
        ("ann:a\nann:b\n", "line 2: there is a user 'ann' already"),
        ("# nobody\n", "names no user"),
    ],
)
def test_files_of_users_that_make_no_sense_are_refused(tmp_path: Path, users: str, text: str) -> None:
    (tmp_path / "users.txt").write_text(users)
    result = CliRunner().invoke(registry, ["serve", "--port", "0", "--users", str(tmp_path / "users.txt")])
    assert result.exit_code == 2
    assert text in result.stderr


def test_mistakes_are_sentences(tmp_path: Path) -> None:
    (tmp_path / "a.pem").write_text("no certificate")
    half = CliRunner().invoke(registry, ["serve", "--certificate", str(tmp_path / "a.pem")])
    wrong = CliRunner().invoke(
        registry, ["serve", *(f"--{name}={tmp_path / 'a.pem'}" for name in ("certificate", "key"))]
    )
    assert (half.exit_code, wrong.exit_code) == (2, 2)
    assert "--certificate and --key belong together" in half.stderr
    assert "can't be used" in wrong.stderr
