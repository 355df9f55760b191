"""Small helpers of confluent_kafka's private modules `_util` and `_types`, for code that imports them.

Must not hold anything that clients of ours need. Source: confluent_kafka 2.16, its docstrings and observed answers.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from enum import Enum, EnumMeta
from typing import Any, TypeVar

from kafka_core import KafkaError

__all__ = [
    "AcknowledgementCommitCallback",
    "ConversionUtil",
    "DeliveryCallback",
    "Deserializer",
    "HeadersType",
    "RebalanceCallback",
    "Serializer",
    "ValidationUtil",
    "asyncinit",
    "string_type",
]

E = TypeVar("E", bound=Enum)
K = TypeVar("K", bound=type)

string_type = str
HeadersType = dict[str, str | bytes | None] | list[tuple[str, str | bytes | None]]
Serializer = Callable[[Any, Any], bytes]
Deserializer = Callable[[bytes | None, Any], Any]
DeliveryCallback = Callable[[Any | None, Any], None]
RebalanceCallback = Callable[[Any, list[Any]], None]
AcknowledgementCommitCallback = Callable[[dict[Any, Any], Any | None], None]


class ConversionUtil:
    """Turns what callers may give into members of enums."""

    @staticmethod
    def convert_to_enum(val: str | int | Enum, enum_clazz: type[E]) -> E:
        """The member that a name (in any case), a number or a member stands for.

        Raises:
            TypeError: the class is no enum, or the value is of another type.
            ValueError: no member has this name or number.
        """
        if type(enum_clazz) is not EnumMeta:
            raise TypeError("'enum_clazz' must be of type Enum")
        wrong = f'Unknown value "{val}": should be a {enum_clazz.__name__}'
        if isinstance(val, str):
            if val.upper() not in enum_clazz.__members__:
                raise ValueError(wrong)
            return enum_clazz[val.upper()]
        if isinstance(val, int):
            return enum_clazz(val)
        if not isinstance(val, enum_clazz):
            raise TypeError(wrong)
        return val


class ValidationUtil:
    """Checks of an object's attributes, by their names."""

    @staticmethod
    def check_multiple_not_none(obj: Any, vars_to_check: Iterable[str]) -> None:
        """Raises ValueError: one of the attributes is None."""
        for param in vars_to_check:
            ValidationUtil.check_not_none(obj, param)

    @staticmethod
    def check_not_none(obj: Any, param: str) -> None:
        """Raises ValueError: the attribute is None."""
        if getattr(obj, param) is None:
            raise ValueError(f"Expected {param} to be not None")

    @staticmethod
    def check_multiple_is_string(obj: Any, vars_to_check: Iterable[str]) -> None:
        """Raises TypeError: one of the attributes is neither None nor a text."""
        for param in vars_to_check:
            ValidationUtil.check_is_string(obj, param)

    @staticmethod
    def check_is_string(obj: Any, param: str) -> None:
        """Raises TypeError: the attribute is neither None nor a text."""
        if not isinstance(getattr(obj, param), str | None):
            raise TypeError(f"Expected {param} to be a string")

    @staticmethod
    def check_kafka_errors(errors: list[KafkaError]) -> None:
        """Raises TypeError: not a list of KafkaError."""
        if not isinstance(errors, list):
            raise TypeError("errors should be None or a list")
        if not all(isinstance(error, KafkaError) for error in errors):
            raise TypeError("Expected list of KafkaError")

    @staticmethod
    def check_kafka_error(error: KafkaError) -> None:
        """Raises TypeError: not a KafkaError."""
        if not isinstance(error, KafkaError):
            raise TypeError("Expected error to be a KafkaError")


def asyncinit(cls: K) -> K:
    """Makes a class whose `__init__` is a coroutine function one whose instances come by `await`."""
    plain: Callable[..., Any] = cls.__new__

    async def ready(made: Any, *args: Any, **kwargs: Any) -> Any:
        await made.__init__(*args, **kwargs)
        return made

    def new(kind: type, *args: Any, **kwargs: Any) -> Coroutine[Any, Any, Any]:
        return ready(plain(kind), *args, **kwargs)

    cls.__new__ = new  # type: ignore[method-assign, assignment]
    return cls
