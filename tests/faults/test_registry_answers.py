"""Registries, and proxies before them, whose HTTP is wrong: no caller gets an answer that is not his."""

from __future__ import annotations

import asyncio
import ssl

import pytest
import trustme

from registry import AsyncSchemaRegistryClient, SchemaRegistryClient
from tests.faults.listener import listening


def answer(number: int) -> bytes:
    body = b"[%d]" % number
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


async def twice(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers with the number in the subject's name, and once more with another one."""
    while True:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        number = int(head.partition("/subjects/")[2].partition("/")[0])
        writer.write(answer(number) + answer(number + 1000))


@pytest.mark.parametrize("tls", [False, True])
def test_an_answer_too_many_is_nobodys(tls: bool) -> None:
    authority = trustme.CA()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(server)

    async def scene() -> None:
        async with listening(twice, tls=server if tls else None) as port:
            with authority.cert_pem.tempfile() as file:
                conf = {"url": f"http{'s' * tls}://127.0.0.1:{port}", "ssl.ca.location": file}
                async with AsyncSchemaRegistryClient(conf) as client:
                    got = await asyncio.gather(*(client.get_versions(str(number)) for number in range(1, 9)))
                    got += [await client.get_versions(str(number)) for number in range(9, 12)]
                with SchemaRegistryClient(conf) as blocking:
                    for number in range(12, 15):
                        got.append(await asyncio.to_thread(blocking.get_versions, str(number)))
        assert got == [[number] for number in range(1, 15)]

    asyncio.run(scene())
