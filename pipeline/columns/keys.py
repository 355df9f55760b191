"""Keys of plans: hashes of what they say, by which processes know that a plan is one they have compiled.

Must not know plans.
"""

from __future__ import annotations

import hashlib
import json
import sys
import uuid
import weakref


def content_key(content: object) -> str:
    """A hash of JSON-like content, in which there may be functions and objects of a rule's configuration.

    It is computed where the plan is made and travels with it: elsewhere those functions are others.
    """
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=_opaque).encode()).hexdigest()


def _opaque(value: object) -> list[object]:
    """Functions and objects in a configuration: what a module has under their name, or else nothing but themselves.

    Two lambdas have one name; so have two versions of a notebook's function, while executors live on.
    """
    module, name = getattr(value, "__module__", ""), getattr(value, "__qualname__", "")
    if name and module != "__main__":
        found: object = sys.modules.get(module)
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is value:
            return [module, name]
    try:
        return [_tokens.setdefault(value, uuid.uuid4().hex)]
    except TypeError:  # it can't be remembered: it is never the same
        return [uuid.uuid4().hex]


_tokens: weakref.WeakKeyDictionary[object, str] = weakref.WeakKeyDictionary()
