"""`/contexts…`: separate rooms of subjects, each with ids of its own.

Must not know how names are qualified (`registry.dev.names`). Source: Confluent's `ContextsResource`.
"""

from __future__ import annotations

from typing import Any

from registry.dev.handlers.requests import Call, Response
from registry.dev.handlers.routes import Routes
from registry.dev.names import DEFAULT_CONTEXT, context_name
from registry.dev.operations.deletion import delete_context
from registry.dev.refusal import malformed

ROUTES = Routes()


@ROUTES.on("GET", "/contexts")
def every(call: Call) -> Any:
    prefix = call.text("contextPrefix") or ""
    found = [DEFAULT_CONTEXT, *sorted(str(context) for (context,) in call.state.contexts)]
    return call.page([context for context in found if context.startswith(prefix)])


@ROUTES.on("DELETE", "/contexts/{context}")
def delete(call: Call) -> Any:
    try:
        context = context_name(call.names["context"])
    except ValueError as error:
        raise malformed(str(error)) from None
    delete_context(call.state, context)
    return Response(204, b"")
