"""Starts a real Kerberos key distribution centre (Apache Kerby, from Maven Central) for tests."""

from __future__ import annotations

import contextlib
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.maven import TESTS, JarsUnavailableError, jars
from tools.real_kafka import KafkaUnavailableError, free_ports, java

REALM: Final = "KSERDES.TEST"
CONFIG: Final = """[libdefaults]
default_realm = {realm}
dns_lookup_kdc = false
dns_lookup_realm = false
dns_canonicalize_hostname = false
rdns = false
udp_preference_limit = 1
[realms]
{realm} = {{
  kdc = 127.0.0.1:{port}
}}
[domain_realm]
127.0.0.1 = {realm}
"""


@dataclass(frozen=True, slots=True)
class Kdc:
    """One that runs.

    Attributes:
        config: what is a krb5.conf, for `KRB5_CONFIG` and Java's `java.security.krb5.conf`.
        folder: with `<principal>.keytab` for each principal, slashes as dots.
    """

    config: Path
    folder: Path
    _process: subprocess.Popen[bytes]

    def keytab(self, principal: str) -> Path:
        """The file with the key of a principal (without realm)."""
        return self.folder / f"{principal.replace('/', '.')}.keytab"

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Nobody listens at its port; afterwards it is there again, with the keys and tickets of before."""
        self._told(b"stop\n")
        try:
            yield
        finally:
            self._told(b"start\n")

    def _told(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()
        self.wait()

    def wait(self) -> None:
        """Waits until it has done what it was told.

        Raises:
            KafkaUnavailableError: its process ended; its last words are in the text.
        """
        assert self._process.stdout is not None
        if self._process.stdout.readline().strip() != b"ready":
            raise KafkaUnavailableError(f"the KDC did not start: {self.log.read_text()[-1500:]}")

    @property
    def log(self) -> Path:
        """Its standard error."""
        return self.folder / "log"


@contextlib.contextmanager
def kdc(principals: Sequence[str]) -> Iterator[Kdc]:
    """A KDC of the realm KSERDES.TEST that knows these principals.

    Raises:
        KafkaUnavailableError: Java or Maven is missing, or it did not start; its last words are in the text.
    """
    try:
        folder = jars("kerby-2.1.0", "kdc")
    except JarsUnavailableError as error:
        raise KafkaUnavailableError(str(error)) from error
    (port,) = free_ports(1)
    with tempfile.TemporaryDirectory(prefix="kserdes-kdc-") as work:
        folder_of_it = Path(work)
        config = folder_of_it / "clients.conf"  # Kerby writes a krb5.conf of its own
        config.write_text(CONFIG.format(realm=REALM, port=port))
        command = [java(), "-cp", f"{folder}/*", str(TESTS / "kdc" / "Kdc.java"), REALM, str(port), work, *principals]
        with (
            (folder_of_it / "log").open("wb") as errors,
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors) as process,
        ):
            try:
                own = Kdc(config, folder_of_it, process)
                own.wait()
                yield own
            finally:
                process.kill()
