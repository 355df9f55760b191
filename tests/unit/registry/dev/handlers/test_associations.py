from __future__ import annotations

from typing import Any

import pytest

from tests.unit.registry.dev.asking import ONE, Asking


def request(*infos: dict[str, Any], **more: Any) -> dict[str, Any]:
    resource = {"resourceName": "orders", "resourceNamespace": "lkc-1", "resourceId": "id-1"}
    return {**resource, "associations": list(infos), **more}


VALUE = {"associationType": "value", "subject": "s", "schema": ONE}


def test_an_association_may_bring_its_schema(registry: Asking) -> None:
    made = registry.post("/associations", request(VALUE))
    assert made["associations"][0]["lifecycle"] == "WEAK"
    assert registry.get("/subjects/s/versions") == [1]
    for path in ("resources/lkc-1/orders", "resources/-/orders", "resources/id-1", "subjects/s"):
        (found,) = registry.get(f"/associations/{path}?associationType=value")
        assert (found["subject"], found["resourceId"], found["resourceType"]) == ("s", "id-1", "topic")
    assert registry.get("/associations/resources/id-1?associationType=key") == []
    assert registry.post("/associations", request(VALUE)) == made


def test_the_usual_subject(registry: Asking) -> None:
    made = registry.post("/associations", request({"associationType": "key", "schema": ONE, "frozen": True}))
    assert made["associations"][0]["subject"] == ":.lkc-1:orders-key"
    assert registry.refused("DELETE", "/associations/resources/id-1") == 40908
    assert registry.refused("PUT", "/associations", request({"associationType": "key", "frozen": False})) == 40908


def test_deleting(registry: Asking) -> None:
    registry.post("/associations", request({**VALUE, "lifecycle": "STRONG"}))
    assert registry.ask("DELETE", "/associations/resources/id-1?cascadeLifecycle=true") == (204, None)
    assert registry.refused("GET", "/subjects/s/versions") == 40401
    assert registry.refused("DELETE", "/associations/resources/id-1") == 40410


def test_a_dry_run_changes_nothing(registry: Asking) -> None:
    registry.post("/associations?dryRun=true", request(VALUE))
    assert registry.get("/subjects") == []
    assert registry.get("/associations/resources/id-1") == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (request(), 42212),
        (request(VALUE, resourceName=""), 42212),
        (request(VALUE, resourceType="cluster"), 42212),
        (request({**VALUE, "associationType": "header"}), 42212),
        (request({**VALUE, "lifecycle": "ETERNAL"}), 42212),
        (request({**VALUE, "frozen": True}), 42212),
        (request({**VALUE, "schema": 5}), 42212),
        (request({**VALUE, "schema": None}), 40907),
        (request({**VALUE, "schema": {"schema": "{"}}), 42201),
    ],
)
def test_refusals(registry: Asking, body: dict[str, Any], code: int) -> None:
    assert registry.refused("POST", "/associations", body) == code
    assert registry.get("/subjects") == []


def test_conflicts(registry: Asking) -> None:
    registry.post("/associations", request(VALUE))
    assert registry.refused("POST", "/associations", request({**VALUE, "subject": "t"})) == 40903
    other = {"resourceName": "o", "resourceId": "id-2"}
    assert registry.refused("POST", "/associations", request({**VALUE, "lifecycle": "STRONG"}, **other)) == 40904
    registry.put("/associations/resources/id-1", request({**VALUE, "lifecycle": "STRONG"}))
    assert registry.refused("POST", "/associations", request(VALUE, **other)) == 40905
    assert registry.refused("PUT", "/associations/resources/id-3", request(VALUE)) == 42212
