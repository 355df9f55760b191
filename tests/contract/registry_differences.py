"""Differences of the tests' real registry (Apicurio 3.0.9, API `ccompat/v7`) from Confluent's.

One line each, with the reason; the contract suite checks that they still are as listed. Confluent's behaviour counts.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CLIENT_DIFFERENCES", "DIFFERENCES", "Difference"]


@dataclass(frozen=True, slots=True)
class Difference:
    """Apicurio's different answer.

    Attributes:
        status: its HTTP status.
        why: what it lacks, or means otherwise.
        code: its `error_code`; None if it gives none.
    """

    status: int
    why: str
    code: int | None = None


DIFFERENCES = {
    "root": Difference(200, "answers a web page"),
    "contexts": Difference(200, "writes the default context `:.:` where Confluent writes `.`"),
    "global mode": Difference(404, "has no global mode"),
    "cluster id": Difference(404, "has no `/v1/metadata`"),
    "server version": Difference(404, "has no `/v1/metadata`"),
    "config of no subject": Difference(404, "says the subject is missing where Confluent says its config is", 40401),
    "config of no subject, default": Difference(
        404, "looks for the subject before it looks at `defaultToGlobal`", 40401
    ),
    "mode of no subject": Difference(204, "accepts requests about modes and does nothing"),
    "mode of no subject, default": Difference(204, "accepts requests about modes and does nothing"),
    "delete mode of no subject": Difference(405, "modes can't be deleted"),
    "subjects of no schema": Difference(404, "gives no JSON with this 404"),
    "id that is no number": Difference(404, "gives no JSON with this 404"),
    "no GUID": Difference(404, "has no GUIDs (Confluent's since 7.9)"),
    "no route": Difference(404, "gives no JSON with this 404"),
    "no such method": Difference(405, "gives no JSON with this 405"),
    "test against all of no subject": Difference(404, "wants the subject to exist", 40401),
    "metadata of no subject": Difference(204, "has no look-up by metadata, answers nothing"),
    "register nothing": Difference(500, "a crash", 0),
    "register an empty text": Difference(200, "takes an empty text for a schema"),
    "register without a body": Difference(422, "means the schema where Confluent means the body", 42201),
    "register broken JSON": Difference(400, "answers plain text"),
    "register a list": Difference(400, "answers plain text"),
    "register a number as schema": Difference(422, "reads a number as text", 42201),
    "register with an id": Difference(200, "ignores the id"),
    "register with a version too far": Difference(200, "ignores the version"),
    "look up in a deleted subject": Difference(404, "looks for the schema before the subject", 40403),
    "look up nonsense": Difference(404, "does not parse what is looked up", 40403),
    "latest in capitals": Difference(404, "wants `latest` in small letters", 40402),
    "version zero": Difference(404, "any text may be a version's name there", 40402),
    "version that is no number": Difference(404, "any text may be a version's name there", 40402),
    "referenced by no version": Difference(200, "does not look for the version"),
    "schema by id, highest": Difference(200, "has no `fetchMaxId`"),
    "prefix of subjects": Difference(200, "has no `subjectPrefix`"),
    "prefix of subjects, deleted": Difference(200, "has no `subjectPrefix`"),
    "prefix of subjects, not deleted": Difference(200, "has no `subjectPrefix`"),
    "prefix of subjects, deleted only": Difference(200, "has no `subjectPrefix`"),
    "schemas with a prefix": Difference(404, "has no list of schemas"),
    "latest with metadata": Difference(204, "has no look-up by metadata, answers nothing"),
    "delete a version again": Difference(409, "409 where Confluent answers 404; the code is the same", 40406),
    "delete for good what is live": Difference(409, "409 where Confluent answers 404; the code is the same", 40407),
    "delete a live subject for good": Difference(409, "409 where Confluent answers 404; the code is the same", 40405),
    "delete a version that is no number": Difference(404, "any text may be a version's name there", 40402),
    "only deleted versions": Difference(200, "has no `deletedOnly` for versions"),
    "deleted versions as negative": Difference(200, "has no `deletedAsNegative`"),
    "what was used can be deleted": Difference(422, "a deleted user still protects what it used", 42206),
    "latest of a deleted subject": Difference(
        404, "says the subject is missing where Confluent says the version is", 40401
    ),
    "test and say why": Difference(200, "has no `messages`"),
    "test against nonsense": Difference(404, "any text may be a version's name there", 40402),
    "set a level": Difference(200, "calls it `compatibilityLevel` in this answer too"),
    "set a level before there is a schema": Difference(200, "calls it `compatibilityLevel` in this answer too"),
    "set a level in small letters": Difference(500, "wants capitals, or crashes", 0),
    "set an unknown level": Difference(500, "a crash", 0),
    "set a number as level": Difference(500, "a crash", 0),
    "level of a subject without": Difference(200, "answers `NONE` for a level that is not set"),
    "level none lets everything in": Difference(
        409, "level `NONE` unsets the subject's rule, and the global one counts", 409
    ),
    "set a mode": Difference(204, "accepts requests about modes and does nothing"),
    "read a mode": Difference(204, "accepts requests about modes and does nothing"),
    "set an unknown mode": Difference(400, "answers plain text"),
    "read-only": Difference(200, "accepts requests about modes and does nothing"),
    "import with an id": Difference(200, "ignores the id"),
}

#: Tests of `test_registry_contract` that fail at the real registry, and why.
CLIENT_DIFFERENCES = {
    "test_subjects_of_an_id": "has no `/schemas/ids/{id}/subjects`",
    "test_whitespace_does_not_make_another_schema": "keeps schemas as they were written",
    "test_transitive_level": "tests a schema against all versions, whatever the level",
    "test_level_none": "level `NONE` unsets the subject's rule, and the global one counts",
    "test_error_codes_of_config": "says the subject is missing, and crashes for unknown levels",
    "test_config_is_gone": "answers `NONE` for a level that is not set",
}
