"""Classes as schemas: dataclasses, attrs, pydantic models and `TypedDict`s, for `serdes.typed`."""
