"""`/` and `/v1/metadata/…`: what this registry is.

Must not know of schemas. Source: Confluent's `RootResource`, `ServerMetadataResource`.
"""

from __future__ import annotations

from typing import Any

from registry.dev.handlers.requests import Call
from registry.dev.handlers.routes import Routes

API_VERSION = "8.0.0"
"""The version of Confluent's registry whose API this is; clients look at it to see what they may ask for."""
ROUTES = Routes()


@ROUTES.on("GET", "/")
@ROUTES.on("POST", "/")
def root(call: Call) -> Any:
    return {}


@ROUTES.on("GET", "/v1/metadata/id")
def cluster(call: Call) -> Any:
    clusters = {"kafka-cluster": "kserdes", "schema-registry-cluster": "schema-registry"}
    return {"scope": {"path": [], "clusters": clusters}, "id": ""}


@ROUTES.on("GET", "/v1/metadata/version")
def version(call: Call) -> Any:
    return {"version": API_VERSION, "commitId": "kserdes"}
