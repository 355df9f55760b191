"""Configurations that travel with a job: no secret is in them, only references that executors resolve.

`${env:NAME}` stands for an environment variable, `${file:PATH}` for a file's text (without the line end), both of the
process that uses the value. A secret that is written out stays on the driver. Must not know of Spark.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

from pipeline.errors import OptionError

REFERENCE: Final = re.compile(r"\$\{(env|file):([^}]+)\}")
IN_URLS: Final = ("url", "proxy", "bearer.auth.issuer.endpoint.url")
"""Secret only where a user and password stand in it."""
INSIDE: Final = "validation.rules."
"""How the properties of rules inside schemas begin."""
AGAIN: Final = ("client.id", "dlq.topic", "dlq.auto.flush", "bootstrap.servers")
"""Properties of rule executors that are no secrets; all others travel as references only."""


class Travelling(dict[str, Any]):
    """A configuration that may be pickled.

    Attributes:
        withheld: names of the properties whose values were left out.
    """

    withheld: tuple[str, ...] = ()


def travelling(conf: Mapping[str, Any], secrets: Collection[str]) -> Travelling:
    """The part of a configuration that may travel; secrets only as references.

    Args:
        conf: as the user gave it.
        secrets: names of the secret properties.
    """
    made, withheld = Travelling(), []
    for name, value in conf.items():
        if name not in secrets or _is_reference(value):
            made[name] = value
            continue
        if name in IN_URLS and isinstance(value, str):
            bare = ",".join(_without_user(url) for url in value.split(","))
            if bare == value:
                made[name] = value
                continue
            made[name] = bare
        withheld.append(name)
    made.withheld = tuple(withheld)
    return made


def travelling_rules(conf: Mapping[str, Any]) -> Travelling:
    """The part of a rule configuration that travels to executors.

    Raises:
        OptionError: a value that may be a secret is written out, or a property of rules inside schemas is there: they
            do not run in Spark.
    """
    inside = [name for name in conf if str(name).startswith(INSIDE)]
    if inside:
        raise OptionError(
            f"rule_conf {', '.join(map(repr, inside))}: rules inside schemas do not run in Spark. Check the values with"
            " the serializer of their format, or register the rules with the schema"
        )
    made = travelling(conf, [name for name in conf if name not in AGAIN])
    if made.withheld:
        names = ", ".join(map(repr, made.withheld))
        raise OptionError(
            f"rule_conf {names} may be secret and would travel in the plan: write ${{env:NAME}} or ${{file:PATH}},"
            " which every executor resolves for itself"
        )
    return made


def resolved(conf: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with what its references stand for in this process.

    Raises:
        OptionError: there is no such variable, or the file can't be read; the text names the property.
    """
    return {name: _value(name, value) for name, value in conf.items()}


def _is_reference(value: object) -> bool:
    """Whether a value is made of references alone, so that nothing secret is written in it."""
    if isinstance(value, Mapping):
        return all(_is_reference(item) for item in value.values())
    return isinstance(value, str) and bool(value) and not REFERENCE.sub("", value).strip(":")


def _without_user(url: str) -> str:
    parts = urlsplit(url.strip())
    user, at, host = parts.netloc.rpartition("@")
    if not at or _is_reference(user):
        return url
    return urlunsplit(parts._replace(netloc=host))


def _value(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _value(f"{name}.{key}", item) for key, item in value.items()}
    if not isinstance(value, str) or "${" not in value:
        return value
    return REFERENCE.sub(lambda found: SOURCES[found[1]](name, found[2]), value)


def _variable(name: str, variable: str) -> str:
    try:
        return os.environ[variable]
    except KeyError:
        raise OptionError(
            f"{name}: the environment of process {os.getpid()} has no variable {variable!r}: set it where this runs, on"
            " every executor too",
            property=name,
        ) from None


def _file(name: str, path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(f"{name}: file {path!r} can't be read: {error}", property=name) from None


SOURCES: Final[Mapping[str, Callable[[str, str], str]]] = {"env": _variable, "file": _file}
