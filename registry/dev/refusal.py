"""Error answers: one function for each, with the code and text of Confluent's registry.

Must not know of state or HTTP libraries. Source: `io.confluent.kafka.schemaregistry.rest.exceptions.Errors`.
"""

from __future__ import annotations

from collections.abc import Sequence


class Refusal(Exception):
    """An error answer of the registry.

    Attributes:
        status: HTTP status.
        code: the registry's error code.
        message: its text.
        headers: of the answer, beside the usual ones.
    """

    def __init__(self, status: int, code: int, message: str, headers: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(status, code, message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = tuple(headers)


# --- requests that are not one of the API's


def malformed(reason: str) -> Refusal:
    return Refusal(400, 400, reason)


def unauthorized() -> Refusal:
    return Refusal(401, 401, "Unauthorized", [("WWW-Authenticate", 'Basic realm="kserdes"')])


def no_route() -> Refusal:
    return Refusal(404, 404, "HTTP 404 Not Found")


def wrong_method(allowed: Sequence[str]) -> Refusal:
    return Refusal(405, 405, "HTTP 405 Method Not Allowed", [("Allow", ", ".join(allowed))])


def too_large(limit: int) -> Refusal:
    return Refusal(413, 413, f"A request body may have up to {limit} bytes")


# --- what is not there


def subject_not_found(subject: str) -> Refusal:
    return Refusal(404, 40401, f"Subject '{subject}' not found.")


def version_not_found(version: int) -> Refusal:
    return Refusal(404, 40402, f"Version {version} not found.")


def schema_not_found(which: object = None) -> Refusal:
    return Refusal(404, 40403, "Schema not found" if which is None else f"Schema {which} not found")


def subject_deleted(subject: str) -> Refusal:
    return Refusal(404, 40404, f"Subject '{subject}' was soft deleted. Set permanent=true to delete permanently")


def subject_not_deleted(subject: str) -> Refusal:
    return Refusal(404, 40405, f"Subject '{subject}' was not deleted first before being permanently deleted")


def version_deleted(subject: str, version: object) -> Refusal:
    text = f"Subject '{subject}' Version {version} was soft deleted. Set permanent=true to delete permanently"
    return Refusal(404, 40406, text)


def version_not_deleted(subject: str, version: object) -> Refusal:
    text = f"Subject '{subject}' Version {version} was not deleted first before being permanently deleted"
    return Refusal(404, 40407, text)


def no_subject_config(subject: str) -> Refusal:
    return Refusal(404, 40408, f"Subject '{subject}' does not have subject-level compatibility configured")


def no_subject_mode(subject: str) -> Refusal:
    return Refusal(404, 40409, f"Subject '{subject}' does not have subject-level mode configured")


def association_not_found(resource: str) -> Refusal:
    return Refusal(404, 40410, f"Association for '{resource}' not found.")


# --- conflicts


def incompatible(subject: str, reasons: Sequence[str]) -> Refusal:
    text = f'Schema being registered is incompatible with an earlier schema for subject "{subject}"'
    return Refusal(409, 409, f"{text}, details: [{', '.join(reasons)}]")


def resource_associated(kind: str, resource: str) -> Refusal:
    return Refusal(409, 40903, f"An association of type '{kind}' already exists for resource '{resource}'")


def subject_associated(subject: str) -> Refusal:
    return Refusal(409, 40904, f"An association already exists for subject '{subject}'")


def strong_association(subject: str) -> Refusal:
    return Refusal(409, 40905, f"A strong association already exists for subject '{subject}'")


def no_active_version(subject: str) -> Refusal:
    return Refusal(409, 40907, f"No active (non-deleted) version exists for subject '{subject}'")


def association_frozen(kind: str, subject: str) -> Refusal:
    return Refusal(409, 40908, f"The association of type '{kind}' is frozen for subject '{subject}'")


# --- what can't be done


def invalid_schema(reason: str) -> Refusal:
    return Refusal(422, 42201, reason)


def invalid_version(text: str) -> Refusal:
    known = 'Allowed values are between [1, 2^31-1] and the string "latest"'
    return Refusal(422, 42202, f"The specified version '{text}' is not a valid version id. {known}")


def invalid_level() -> Refusal:
    known = "none, backward, forward, full, backward_transitive, forward_transitive, and full_transitive"
    return Refusal(422, 42203, f"Invalid compatibility level. Valid values are {known}")


def invalid_policy() -> Refusal:
    return Refusal(422, 42203, "Invalid compatibility policy. Valid values are strict and lenient")


def invalid_mode() -> Refusal:
    known = "READWRITE, READONLY, READONLY_OVERRIDE, IMPORT, and FORWARD"
    return Refusal(422, 42204, f"Invalid mode. Valid values are {known}")


def not_permitted(reason: str) -> Refusal:
    return Refusal(422, 42205, reason)


def id_taken(schema_id: int) -> Refusal:
    return not_permitted(f"Overwrite new schema with id {schema_id} is not permitted.")


def reference_exists(subject: str, version: int) -> Refusal:
    key = f"{{magic=1,keytype=SCHEMA,subject={subject},version={version}}}"
    return Refusal(422, 42206, f"One or more references exist to the schema {key}.")


def invalid_subject(subject: str) -> Refusal:
    return Refusal(422, 42208, f"The specified subject '{subject}' is not a valid subject.")


def invalid_rules(reason: str) -> Refusal:
    return Refusal(422, 42210, f"Invalid rule set: {reason}")


def context_not_empty(context: str) -> Refusal:
    return Refusal(422, 42211, f"The specified context '{context}' is not empty.")


def invalid_association(name: str, reason: str) -> Refusal:
    return Refusal(422, 42212, f"The association is invalid: property '{name}' {reason}")


# --- our own fault


def store_failed(reason: str) -> Refusal:
    return Refusal(500, 50001, f"Error in the backend data store: {reason}")
