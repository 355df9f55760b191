"""The calls of the REST API that moving a whole registry needs, as they are on the wire.

Must not know of HTTP: the client drives them, with its retries and credentials. JSON goes through untouched, so that
nothing is lost that this version does not know. Source: Confluent's REST API.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from kserdes.cli.shell.unusable import Unusable
from registry import RegisteredSchema, ResponseError, UnexpectedAnswerError
from registry.client.flows import config_of, mode_of, read
from registry.client.steps import Call, Flow, segment, send

if TYPE_CHECKING:
    from registry import SchemaRegistryClient

NO_MODES = (404, 405, 501)
"""The statuses of registries without modes for a call about one; calls before it have shown that the URL is right."""
T = TypeVar("T")


class Rest:
    """A registry, call by call. Threads may share one.

    Args:
        client: what drives the calls.
    """

    def __init__(self, client: SchemaRegistryClient) -> None:
        self._client = client

    def __repr__(self) -> str:
        return repr(self._client)

    def _call(self, method: str, path: str, body: Any = None, /, **query: object) -> Any:
        def flow() -> Flow[Any]:
            repeatable = method != "DELETE"
            reply = yield from send(Call(method, path, query, body, repeatable))
            return reply.json() if reply.body else None  # Apicurio has 204 where others have 404

        return self._drive(flow())

    def _drive(self, flow: Flow[T]) -> T:
        return self._client._drive(flow)

    def subjects(self) -> list[str]:
        """All subjects of all contexts, with those deleted softly.

        Raises:
            UnexpectedAnswerError: the registry cuts the list, or is none.
        """
        return sorted(self._client.get_subjects(deleted=True))

    def versions(self, subject: str, deleted: bool) -> list[int]:
        """The numbers of a subject's versions; none if there is no such subject."""
        try:
            return sorted(self._client.get_versions(subject, deleted=deleted))
        except ResponseError as error:
            if error.not_found:
                return []
            raise

    def version(self, subject: str, number: int) -> dict[str, Any]:
        """A version, deleted softly or not."""
        return self._drive(_version(Call("GET", f"{_subject(subject)}/versions/{number}", {"deleted": True})))

    def register(self, subject: str, body: dict[str, Any]) -> None:
        """Registers a schema with the id and version in the body; the subject must be in IMPORT mode."""
        self._call("POST", f"{_subject(subject)}/versions", body)

    def delete(self, subject: str, number: int) -> None:
        """Deletes a version softly."""
        self._call("DELETE", f"{_subject(subject)}/versions/{number}")

    def setting(self, kind: str, subject: str | None) -> dict[str, Any] | None:
        """The `config` or `mode` of a subject, or the global one; None if a subject has none of its own."""
        try:
            return self._drive(_own(Call("GET", _setting(kind, subject)), kind))
        except UnexpectedAnswerError as error:
            if kind == "mode" and error.http_status_code in NO_MODES and not error.page:
                return None
            raise
        except ResponseError as error:
            if error.not_found:
                return None
            raise

    def set_config(self, subject: str | None, config: dict[str, Any]) -> None:
        """Sets a configuration, given as it is answered."""
        body = {("compatibility" if key == "compatibilityLevel" else key): value for key, value in config.items()}
        self._call("PUT", _setting("config", subject), body)

    def set_mode(self, subject: str | None, mode: str) -> None:
        """Sets a mode, also where there are schemas already.

        Raises:
            Unusable: the registry has no modes.
        """
        try:
            self._call("PUT", _setting("mode", subject), {"mode": mode}, force=True)
        except ResponseError as error:
            if error.http_status_code in NO_MODES:
                raise Unusable(f"{self} has no {mode} mode: ids and versions can't be kept there") from error
            raise

    def delete_mode(self, subject: str) -> None:
        """A subject has the global mode again."""
        try:
            self._call("DELETE", _setting("mode", subject))
        except ResponseError as error:
            if not error.not_found:
                raise


def _version(call: Call) -> Flow[dict[str, Any]]:
    """A version's JSON, if that is what it is."""
    reply = yield from send(call)
    read(reply, RegisteredSchema.from_dict)
    return dict(reply.json())


def _own(call: Call, kind: str) -> Flow[dict[str, Any] | None]:
    """A configuration or mode; None for an empty answer: Apicurio has 204 where others have 404."""
    reply = yield from send(call)
    if not reply.body:
        return None
    read(reply, config_of if kind == "config" else mode_of)
    return dict(reply.json())


def _subject(name: str) -> str:
    return f"/subjects/{segment(name)}"


def _setting(kind: str, subject: str | None) -> str:
    return f"/{kind}" if subject is None else f"/{kind}/{segment(subject)}"
