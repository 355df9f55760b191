"""Registry clients in forked children: connections, locks and look-ups under way are the parent's alone."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

from tests.patience import PROCESS_S

SETTING = """
import asyncio, json, os, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from registry import AsyncSchemaRegistryClient, Schema, SchemaRegistryClient, TransportError
from registry.dek import DekRegistryClient

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    held = threading.Event()  # a request for id 1 came
    go = threading.Event()    # and may be answered

    def do_GET(self):
        schema_id = self.path.rpartition("/")[2]
        if schema_id == "1":
            self.held.set()
            self.go.wait()
        body = json.dumps({"schema": json.dumps({"type": "fixed", "name": "F", "size": int(schema_id)})}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        return

server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
conf = {"url": f"http://127.0.0.1:{server.server_port}"}

def right(client, ids):
    return all(json.loads(client.get_schema(number).schema_str)["size"] == number for number in ids)

def ends_well(in_child):
    child = os.fork()
    if child == 0:
        try:
            code = 0 if in_child() else 3
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            code = 4
        os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0
"""


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(
            """
            client = SchemaRegistryClient(conf)
            assert right(client, [2])
            parents = threading.Thread(target=lambda: asked.append(right(client, range(1000, 1200))))
            asked = []
            parents.start()
            assert ends_well(lambda: right(client, range(2000, 2200)))
            parents.join()
            assert asked == [True]
            """,
            id="each reads its own answers",
        ),
        pytest.param(
            """
            client = SchemaRegistryClient(conf)
            leader = threading.Thread(target=client.get_schema, args=(1,), daemon=True)
            leader.start()
            Handler.held.wait()
            with client._caches._lock, client._flights._lock:
                forked = lambda: (Handler.go.set(), right(client, [5, 5]))[1]
                assert ends_well(forked)
            def same_look_up():
                return right(client, [1])  # the leader of this look-up is not in the child
            child_asks = threading.Timer(0.2, Handler.go.set)
            child_asks.start()
            assert ends_well(same_look_up)
            leader.join()
            """,
            id="locks and look-ups of the parent's threads",
        ),
        pytest.param(
            """
            client = SchemaRegistryClient(conf)
            client.close()
            def refused():
                try:
                    client.get_schema(5)
                except TransportError as error:
                    return "closed" in str(error)
            assert refused() and ends_well(refused)
            """,
            id="a closed client stays closed",
        ),
        pytest.param(
            """
            for name in ("NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"):  # httpx would look at them at once
                os.environ.pop(name, None)
            client = SchemaRegistryClient(conf)
            with client._connecting:  # held by a thread of the parent, which makes the connections
                assert ends_well(lambda: right(client, [2]))
            assert client._connections is None
            assert right(client, [3])
            parents = client._http
            assert ends_well(lambda: right(client, [4]) and client._http is not parents)
            client.close()
            unused = SchemaRegistryClient(conf)
            unused.close()
            def refused():
                for each in (client, unused):
                    try:
                        each.get_schema(5)
                        return False
                    except TransportError:
                        pass
                return client._connections is None
            assert ends_well(refused)
            """,
            id="a client without connections makes its own",
        ),
        pytest.param(
            """
            client = AsyncSchemaRegistryClient(conf)
            async def size(number):
                return json.loads((await client.get_schema(number)).schema_str)["size"]
            async def scene():
                return [await size(number) for number in (7, 8)] == [7, 8]
            with asyncio.Runner() as runner:
                assert runner.run(scene())
                def in_child():
                    asyncio._set_running_loop(None)
                    return asyncio.new_event_loop().run_until_complete(scene())
                assert ends_well(in_child)
                assert runner.run(scene())
                runner.run(client.aclose())
            """,
            id="asyncio",
        ),
        pytest.param(
            """
            keys = DekRegistryClient({"url": "mock://keys"})
            keys.register_kek("k", "local-kms", "id")
            with keys._flows._lock:
                assert ends_well(lambda: keys.get_kek("k").name == "k")
            """,
            id="data keys",
        ),
    ],
)
def test_a_child(script: str) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-Werror"),
            "-Wignore:This process:DeprecationWarning",  # Python 3.12+ warns of forking with threads: our very subject
            *("-c", SETTING + textwrap.dedent(script)),
        ],
        capture_output=True,
        text=True,
        timeout=PROCESS_S,
    )
    assert (done.returncode, done.stderr) == (0, "")
