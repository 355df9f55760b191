"""The parts of the REST API, one module each; every module brings its routes as `ROUTES`.

A further part is a module with `ROUTES` and its place in `PARTS`.
"""

from registry.dev.handlers import (
    associations,
    compatibility,
    config,
    contexts,
    deks,
    mode,
    schemas,
    server,
    subjects,
    versions,
)

__all__ = ["PARTS"]

PARTS = (
    server.ROUTES,
    schemas.ROUTES,
    subjects.ROUTES,
    versions.ROUTES,
    compatibility.ROUTES,
    config.ROUTES,
    mode.ROUTES,
    contexts.ROUTES,
    associations.ROUTES,
    deks.ROUTES,
)
