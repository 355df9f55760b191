"""Users' classes as the kernels know them: which of them may be made without their constructor, and why.

Must not know of schemas or bytes. A shorter way is taken only where it comes to the same: the constructor is one that
dataclasses, attrs or `NamedTuple` wrote, and does nothing but set the fields.
"""

from __future__ import annotations

import dataclasses
import inspect
import keyword
from collections.abc import Callable
from typing import Any, Final

from serdes.kernels.shape import Shape, Way
from serdes.models.members import Member, is_typed_dict, maker_of

WRITTEN_BY: Final = ("<string>", "<attrs generated")
"""File names of constructors that dataclasses, `NamedTuple` or attrs wrote."""


def shape_of(kind: Any, found: list[Member]) -> Shape:
    """The shape of a class with these fields."""
    typed_dict = is_typed_dict(kind)
    way = _way(kind, found)
    return Shape(
        kind=dict if typed_dict else kind,
        name=kind.__name__,
        fields=tuple(member.name for member in found),
        arguments=tuple(member.argument for member in found),
        make=maker_of(kind, found),
        way=way,
        init=(kind.__init__, _is_positional(kind, found)) if way is Way.INIT else None,
        take=None if typed_dict else _taker(kind, found),
        exact=_is_exact(kind),
        required=frozenset(member.name for member in found if not member.optional) if typed_dict else frozenset(),
    )


def _is_exact(kind: Any) -> bool:
    """Whether objects hold nothing but the fields: pydantic's may have more, if the class says so."""
    return getattr(kind, "model_config", {}).get("extra") != "allow"


def _way(kind: Any, found: list[Member]) -> Way:
    if is_typed_dict(kind):
        return Way.MAKE if any(member.optional for member in found) else Way.FIELDS
    if hasattr(kind, "model_fields"):
        return Way.MAKE  # pydantic validates by its own rules
    if not _is_common(kind):
        return Way.CALL
    if issubclass(kind, tuple):
        return Way.TUPLE if _is_written(kind.__new__) and kind.__init__ is object.__init__ else Way.CALL
    names = [member.name for member in found]
    if kind.__new__ is not object.__new__ or not inspect.isfunction(kind.__init__):
        return Way.CALL
    if not _is_written(kind.__init__) or not _are_stored(kind, names):
        return Way.INIT
    plain = _is_plain_dataclass if "__dataclass_params__" in vars(kind) else _is_plain_attrs
    return Way.FILL if plain(kind, names) else Way.INIT


def _is_positional(kind: Any, found: list[Member]) -> bool:
    """Whether a constructor takes the fields in their order."""
    named = [
        name
        for name, item in list(inspect.signature(kind.__init__).parameters.items())[1:]
        if item.kind is item.POSITIONAL_OR_KEYWORD
    ]
    return named[: len(found)] == [member.argument for member in found]


def _taker(kind: Any, found: list[Member]) -> Callable[[Any], tuple[Any, ...]] | None:
    """A function that gives the values of an object's fields: the interpreter learns where they lie in it."""
    names = [member.name for member in found]
    if issubclass(kind, tuple) or not all(name.isidentifier() and not keyword.iskeyword(name) for name in names):
        return None
    if all(inspect.ismemberdescriptor(inspect.getattr_static(kind, name, None)) for name in names):
        return None
    made: Callable[[Any], tuple[Any, ...]] = eval(f"lambda given: ({''.join(f'given.{name}, ' for name in names)})")
    return made


def _is_common(kind: Any) -> bool:
    """Whether nothing but `__new__` and `__init__` has a say in how objects come and go."""
    return type(kind).__call__ is type.__call__ and not inspect.isabstract(kind) and not hasattr(kind, "__del__")


def _is_written(constructor: Any) -> bool:
    """Whether a constructor was written by a library, and not replaced by the user."""
    code = getattr(constructor, "__code__", None)
    return code is not None and code.co_filename.startswith(WRITTEN_BY)


def _are_stored(kind: Any, names: list[str]) -> bool:
    """Whether setting an attribute does nothing but store it: a slot, or the object's dict."""
    for name in names:
        held = inspect.getattr_static(kind, name, None)
        if hasattr(type(held), "__set__") and not inspect.ismemberdescriptor(held):
            return False
    return True


def _is_plain_dataclass(kind: Any, names: list[str]) -> bool:
    settable = kind.__setattr__ is object.__setattr__ or kind.__dataclass_params__.frozen
    fields = [item.name for item in dataclasses.fields(kind)]
    whole = fields == names and len(fields) == len(kind.__dataclass_fields__) - _class_variables(kind)
    return settable and whole and not hasattr(kind, "__post_init__")


def _class_variables(kind: Any) -> int:
    return sum(repr(item._field_type) == "_FIELD_CLASSVAR" for item in kind.__dataclass_fields__.values())


def _is_plain_attrs(kind: Any, names: list[str]) -> bool:
    items = vars(kind).get("__attrs_attrs__")
    hooks = ("__attrs_init__", "__attrs_post_init__", "__attrs_pre_init__", "_attrs_cached_hash")
    if items is None or any(hasattr(kind, name) for name in hooks) or issubclass(kind, BaseException):
        return False
    return [item.name for item in items] == names and all(
        item.converter is None and item.validator is None and item.init for item in items
    )
