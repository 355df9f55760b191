"""registry.associations: values and their JSON forms."""

from __future__ import annotations

from registry import (
    Association,
    AssociationCreateOrUpdateInfo,
    AssociationCreateOrUpdateRequest,
    AssociationInfo,
    AssociationResponse,
    Schema,
)

RESOURCE = {"resourceName": "orders", "resourceNamespace": "lkc", "resourceId": "id", "resourceType": "topic"}


def test_a_request_there_and_back() -> None:
    one = AssociationCreateOrUpdateInfo("s", "value", "STRONG", True, Schema('"int"'), False)
    request = AssociationCreateOrUpdateRequest("orders", "lkc", "id", "topic", (one,))
    found = request.to_dict()
    assert found == {
        **RESOURCE,
        "associations": [
            {
                "subject": "s",
                "associationType": "value",
                "lifecycle": "STRONG",
                "frozen": True,
                "schema": {"schema": '"int"', "schemaType": "AVRO", "references": []},
                "normalize": False,
            }
        ],
    }
    assert AssociationCreateOrUpdateRequest.from_dict(found) == request
    assert AssociationCreateOrUpdateRequest().to_dict() == {}
    assert AssociationCreateOrUpdateRequest.from_dict({}) == AssociationCreateOrUpdateRequest()


def test_a_response_there_and_back() -> None:
    response = AssociationResponse("orders", "lkc", "id", "topic", (AssociationInfo("s", "key", "WEAK", False, None),))
    found = response.to_dict()
    assert found == {
        **RESOURCE,
        "associations": [{"subject": "s", "associationType": "key", "lifecycle": "WEAK", "frozen": False}],
    }
    assert AssociationResponse.from_dict(found) == response
    with_schema = AssociationInfo("s", schema=Schema('"int"'))
    assert AssociationInfo.from_dict(with_schema.to_dict()) == with_schema
    assert AssociationResponse.from_dict({}) == AssociationResponse()


def test_an_association_there_and_back() -> None:
    one = Association("s", "g", "orders", "lkc", "id", "topic", "value", True)
    assert one.to_dict() == {**RESOURCE, "subject": "s", "guid": "g", "associationType": "value", "frozen": True}
    assert Association.from_dict(one.to_dict()) == one
    assert Association.from_dict({}) == Association(None, None, None, None, None, None, None)
