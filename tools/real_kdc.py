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

    def keytab(self, principal: str) -> Path:
        """The file with the key of a principal (without realm)."""
        return self.folder / f"{principal.replace('/', '.')}.keytab"


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
        own = Kdc(Path(work) / "clients.conf", Path(work))  # Kerby writes a krb5.conf of its own
        own.config.write_text(CONFIG.format(realm=REALM, port=port))
        command = [java(), "-cp", f"{folder}/*", str(TESTS / "kdc" / "Kdc.java"), REALM, str(port), work, *principals]
        log = own.folder / "log"
        with (
            log.open("wb") as errors,
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors) as process,
        ):
            try:
                assert process.stdout is not None
                if process.stdout.readline().strip() != b"ready":
                    raise KafkaUnavailableError(f"the KDC did not start: {log.read_text()[-1500:]}")
                yield own
            finally:
                process.kill()
