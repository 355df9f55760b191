"""Builders: serializers that a typed client makes itself, from its own configuration, and closes.

Must not know how serializers work. Names and arguments are those of confluent_kafka's builders. A builder is any object
with `build(conf, is_key) -> (function, rest of conf)`; properties that one of them takes out never reach the client.
"""

from __future__ import annotations

import abc
import contextlib
import importlib
import inspect
import weakref
from collections.abc import Awaitable, Callable, Generator, Mapping
from typing import Any, ClassVar, Final, Self

from serdes.errors import SerializationError

__all__ = [
    "AsyncAvroDeserializerBuilder",
    "AsyncAvroSerializerBuilder",
    "AsyncJSONDeserializerBuilder",
    "AsyncJSONSerializerBuilder",
    "AsyncProtobufDeserializerBuilder",
    "AsyncProtobufSerializerBuilder",
    "AvroDeserializerBuilder",
    "AvroSerializerBuilder",
    "DeserializerBuilder",
    "JSONDeserializerBuilder",
    "JSONSerializerBuilder",
    "ProtobufDeserializerBuilder",
    "ProtobufSerializerBuilder",
    "SerializerBuilder",
]

CLUSTER_ID_S: Final = 60.0
"""Seconds that serializers wait for the cluster's id."""


class SerializerBuilder(abc.ABC):
    """Makes a serializer for a client; a subclass of your own defines `build`."""

    @abc.abstractmethod
    def build(self, conf: dict[str, Any], is_key: bool) -> Any:
        """Makes the serializer.

        Args:
            conf: the client's configuration, without serializers and builders. A copy.
            is_key: whether it is for keys.

        Returns:
            The serializer, and the rest of `conf` for the client.
        """


class DeserializerBuilder(SerializerBuilder):
    """Makes a deserializer for a client; a subclass of your own defines `build`."""


class _Ready(tuple[Any, dict[str, Any]]):
    """The result of an asyncio builder: awaited, or taken at once by a client whose constructor can't await."""

    pending: Awaitable[object] | None = None

    def __await__(self) -> Generator[Any, None, tuple[Any, dict[str, Any]]]:
        pending, self.pending = self.pending, None
        if pending is not None:
            yield from pending.__await__()
        return self[0], self[1]


class _RegistryBuilder:
    """Shared base of the builders of this package: a registry, a configuration and rules."""

    SERDE: ClassVar[tuple[str, str]]
    CLIENT: ClassVar[str] = "SchemaRegistryClient"

    def __init__(self, registry: tuple[Mapping[str, Any] | None, Any], init: Any, **given: Any) -> None:
        self._registry_conf, self._registry_client = registry
        self._init = init
        self._given = given

    def set_schema_registry_config(self, schema_registry_conf: Mapping[str, Any]) -> Self:
        """Configuration of a registry client to make; not together with a client."""
        self._registry_conf = schema_registry_conf
        return self

    def set_schema_registry_client(self, schema_registry_client: Any) -> Self:
        """Sets an existing registry client; it stays open."""
        self._registry_client = schema_registry_client
        return self

    def set_rule_config(self, rule_conf: Mapping[str, Any]) -> Self:
        """Configuration of rule executors."""
        return self._set("rule_conf", rule_conf)

    def set_rule_registry(self, rule_registry: Any) -> Self:
        """Sets your own rule executors and actions."""
        return self._set("rule_registry", rule_registry)

    def build(self, conf: dict[str, Any], is_key: bool) -> Any:
        """Makes the serializer, with its own registry client unless one was given; takes nothing out of `conf`.

        Raises:
            ValueError: a registry client and its configuration were both given, or as the constructor.
        """
        client, own = self._registry_client, False
        if client is not None and self._registry_conf is not None:
            raise ValueError("Cannot specify both a Schema Registry client and a configuration; use one or the other")
        if self._registry_conf is not None:
            client, own = getattr(importlib.import_module("registry"), self.CLIENT)(self._registry_conf), True
        module, name = self.SERDE
        try:
            made = getattr(importlib.import_module(module), name)(schema_registry_client=client, **self._given)
        except BaseException:
            if own and hasattr(client, "close"):
                client.close()
            raise
        if own:
            made.own_schema_registry_client()
        return self._finished(made, conf)

    def _finished(self, made: Any, conf: dict[str, Any]) -> Any:
        if self._init is not None:
            try:
                self._init(made)
            except BaseException:
                made.close()
                raise
        return made, conf

    def _set(self, name: str, value: Any) -> Self:
        self._given[name] = value
        return self


class _AsyncBuilder(_RegistryBuilder):
    """Makes serializers for tasks: `await builder.build(conf, is_key)`."""

    CLIENT = "AsyncSchemaRegistryClient"

    def _finished(self, made: Any, conf: dict[str, Any]) -> Any:
        ready = _Ready((made, conf))
        result = None if self._init is None else self._init(made)
        if inspect.isawaitable(result):
            ready.pending = result
        return ready


class _SerializerParts(_RegistryBuilder, SerializerBuilder):
    def set_serializer_config(self, serializer_conf: Mapping[str, Any]) -> Self:
        """The serializer's configuration, e.g. `{"auto.register.schemas": False}`."""
        return self._set("conf", serializer_conf)

    def set_serializer_init(self, serializer_init: Callable[[Any], object]) -> Self:
        """A function that is called with the new serializer."""
        self._init = serializer_init
        return self


class _DeserializerParts(_RegistryBuilder, DeserializerBuilder):
    def set_deserializer_config(self, deserializer_conf: Mapping[str, Any]) -> Self:
        """The deserializer's configuration, e.g. `{"use.latest.version": True}`."""
        return self._set("conf", deserializer_conf)

    def set_deserializer_init(self, deserializer_init: Callable[[Any], object]) -> Self:
        """A function that is called with the new deserializer."""
        self._init = deserializer_init
        return self


class _SchemaPart(_RegistryBuilder):
    def set_schema(self, schema_str: Any) -> Self:
        """The schema: text, or a `Schema` with references."""
        return self._set("schema_str", schema_str)


class _ToDictPart(_SchemaPart):
    def set_to_dict(self, to_dict: Callable[[Any, Any], Any]) -> Self:
        """Sets the function that makes dicts of objects."""
        return self._set("to_dict", to_dict)


class _FromDictPart(_SchemaPart):
    def set_from_dict(self, from_dict: Callable[[Any, Any], Any]) -> Self:
        """Sets the function that makes objects of dicts."""
        return self._set("from_dict", from_dict)


class AvroSerializerBuilder(_SerializerParts, _ToDictPart):
    """Makes an `AvroSerializer`. Every argument has a setter, which returns the builder."""

    SERDE = ("serdes.avro", "AvroSerializer")

    def __init__(
        self,
        schema_registry_config: Mapping[str, Any] | None = None,
        schema_registry_client: Any = None,
        schema: Any = None,
        to_dict: Callable[[Any, Any], Any] | None = None,
        serializer_config: Mapping[str, Any] | None = None,
        rule_config: Mapping[str, Any] | None = None,
        rule_registry: Any = None,
        serializer_init: Callable[[Any], object] | None = None,
    ) -> None:
        super().__init__(
            (schema_registry_config, schema_registry_client),
            serializer_init,
            schema_str=schema,
            to_dict=to_dict,
            conf=serializer_config,
            rule_conf=rule_config,
            rule_registry=rule_registry,
        )


class AvroDeserializerBuilder(_DeserializerParts, _FromDictPart):
    """Makes an `AvroDeserializer`. Every argument has a setter, which returns the builder."""

    SERDE = ("serdes.avro", "AvroDeserializer")

    def __init__(
        self,
        schema_registry_config: Mapping[str, Any] | None = None,
        schema_registry_client: Any = None,
        schema: Any = None,
        from_dict: Callable[[Any, Any], Any] | None = None,
        return_record_name: bool = False,
        deserializer_config: Mapping[str, Any] | None = None,
        rule_config: Mapping[str, Any] | None = None,
        rule_registry: Any = None,
        deserializer_init: Callable[[Any], object] | None = None,
    ) -> None:
        super().__init__(
            (schema_registry_config, schema_registry_client),
            deserializer_init,
            schema_str=schema,
            from_dict=from_dict,
            return_record_name=return_record_name,
            conf=deserializer_config,
            rule_conf=rule_config,
            rule_registry=rule_registry,
        )

    def set_return_record_name(self, return_record_name: bool) -> Self:
        """Whether values come as (name of the record, record)."""
        return self._set("return_record_name", return_record_name)


class JSONSerializerBuilder(_SerializerParts, _ToDictPart):
    """Makes a `JSONSerializer`. Every argument has a setter, which returns the builder."""

    SERDE = ("serdes.json_schema", "JSONSerializer")

    def __init__(
        self,
        schema_registry_config: Mapping[str, Any] | None = None,
        schema_registry_client: Any = None,
        schema: Any = None,
        to_dict: Callable[[Any, Any], Any] | None = None,
        serializer_config: Mapping[str, Any] | None = None,
        rule_config: Mapping[str, Any] | None = None,
        rule_registry: Any = None,
        json_encode: Callable[[Any], Any] | None = None,
        serializer_init: Callable[[Any], object] | None = None,
    ) -> None:
        super().__init__(
            (schema_registry_config, schema_registry_client),
            serializer_init,
            schema_str=schema,
            to_dict=to_dict,
            conf=serializer_config,
            rule_conf=rule_config,
            rule_registry=rule_registry,
            json_encode=json_encode,
        )

    def set_json_encode(self, json_encode: Callable[[Any], Any]) -> Self:
        """Sets the function that makes JSON text of dicts."""
        return self._set("json_encode", json_encode)


class JSONDeserializerBuilder(_DeserializerParts, _FromDictPart):
    """Makes a `JSONDeserializer`. Every argument has a setter, which returns the builder."""

    SERDE = ("serdes.json_schema", "JSONDeserializer")

    def __init__(
        self,
        schema_registry_config: Mapping[str, Any] | None = None,
        schema_registry_client: Any = None,
        schema: Any = None,
        from_dict: Callable[[Any, Any], Any] | None = None,
        deserializer_config: Mapping[str, Any] | None = None,
        rule_config: Mapping[str, Any] | None = None,
        rule_registry: Any = None,
        json_decode: Callable[[bytes], Any] | None = None,
        deserializer_init: Callable[[Any], object] | None = None,
    ) -> None:
        super().__init__(
            (schema_registry_config, schema_registry_client),
            deserializer_init,
            schema_str=schema,
            from_dict=from_dict,
            conf=deserializer_config,
            rule_conf=rule_config,
            rule_registry=rule_registry,
            json_decode=json_decode,
        )

    def set_json_decode(self, json_decode: Callable[[bytes], Any]) -> Self:
        """Sets the function that makes dicts of JSON text."""
        return self._set("json_decode", json_decode)


class ProtobufSerializerBuilder(_SerializerParts):
    """Makes a `ProtobufSerializer`. Every argument has a setter, which returns the builder."""

    SERDE = ("serdes.protobuf", "ProtobufSerializer")

    def __init__(
        self,
        schema_registry_config: Mapping[str, Any] | None = None,
        schema_registry_client: Any = None,
        message_type: Any = None,
        serializer_config: Mapping[str, Any] | None = None,
        rule_config: Mapping[str, Any] | None = None,
        rule_registry: Any = None,
        serializer_init: Callable[[Any], object] | None = None,
    ) -> None:
        super().__init__(
            (schema_registry_config, schema_registry_client),
            serializer_init,
            msg_type=message_type,
            conf=serializer_config,
            rule_conf=rule_config,
            rule_registry=rule_registry,
        )

    def set_message_type(self, msg_type: Any) -> Self:
        """Sets the generated class of the messages."""
        return self._set("msg_type", msg_type)


class ProtobufDeserializerBuilder(_DeserializerParts):
    """Makes a `ProtobufDeserializer`. Every argument has a setter, which returns the builder."""

    SERDE = ("serdes.protobuf", "ProtobufDeserializer")

    def __init__(
        self,
        schema_registry_config: Mapping[str, Any] | None = None,
        schema_registry_client: Any = None,
        message_type: Any = None,
        deserializer_config: Mapping[str, Any] | None = None,
        rule_config: Mapping[str, Any] | None = None,
        rule_registry: Any = None,
        deserializer_init: Callable[[Any], object] | None = None,
    ) -> None:
        super().__init__(
            (schema_registry_config, schema_registry_client),
            deserializer_init,
            message_type=message_type,
            conf=deserializer_config,
            rule_conf=rule_config,
            rule_registry=rule_registry,
        )

    def set_message_type(self, msg_type: Any) -> Self:
        """Sets the generated class of the messages."""
        return self._set("message_type", msg_type)


class AsyncAvroSerializerBuilder(_AsyncBuilder, AvroSerializerBuilder):
    """Makes an `AsyncAvroSerializer`: await `build`."""

    SERDE = ("serdes.avro", "AsyncAvroSerializer")


class AsyncAvroDeserializerBuilder(_AsyncBuilder, AvroDeserializerBuilder):
    """Makes an `AsyncAvroDeserializer`: await `build`."""

    SERDE = ("serdes.avro", "AsyncAvroDeserializer")


class AsyncJSONSerializerBuilder(_AsyncBuilder, JSONSerializerBuilder):
    """Makes an `AsyncJSONSerializer`: await `build`."""

    SERDE = ("serdes.json_schema", "AsyncJSONSerializer")


class AsyncJSONDeserializerBuilder(_AsyncBuilder, JSONDeserializerBuilder):
    """Makes an `AsyncJSONDeserializer`: await `build`."""

    SERDE = ("serdes.json_schema", "AsyncJSONDeserializer")


class AsyncProtobufSerializerBuilder(_AsyncBuilder, ProtobufSerializerBuilder):
    """Makes an `AsyncProtobufSerializer`: await `build`."""

    SERDE = ("serdes.protobuf", "AsyncProtobufSerializer")


class AsyncProtobufDeserializerBuilder(_AsyncBuilder, ProtobufDeserializerBuilder):
    """Makes an `AsyncProtobufDeserializer`: await `build`."""

    SERDE = ("serdes.protobuf", "AsyncProtobufDeserializer")


async def _aclose(made: Any) -> None:
    close = getattr(made, "aclose", None) or getattr(made, "close", None)
    result = close() if close is not None else None
    if inspect.isawaitable(result):
        await result


class BuiltSerdes:
    """The serializers that a client's builders made; the client closes them.

    Args:
        conf: the client's configuration, builders included.
        names: the properties of the functions for keys and for values; those of builders end in `.builder`.

    Attributes:
        conf: the rest for the client and its functions, the built ones among them.

    Raises:
        ValueError: a function and its builder were both given, or a builder did not give what it should.
        Exception: what a builder raises; what others had made is closed.
    """

    def __init__(self, conf: Mapping[str, object], names: tuple[str, str]) -> None:
        self.made: list[Any] = []
        rest = dict(conf)
        functions = {name: rest.pop(name) for name in names if name in rest}
        builders = {name: rest.pop(f"{name}.builder") for name in names if f"{name}.builder" in rest}
        left = dict(rest)
        try:
            for name, builder in builders.items():
                if builder is None:
                    continue
                if functions.get(name) is not None:
                    raise ValueError(f"Cannot configure both {name} and {name}.builder; use one or the other")
                functions[name], kept = self._built(f"{name}.builder", builder, dict(rest), name == names[0])
                left = {key: value for key, value in left.items() if key in kept}
        except BaseException:
            self.close()
            raise
        self.conf: dict[str, object] = {**left, **functions}

    def tell_cluster_of(self, client: Any, setter: str = "set_cluster_id_resolver") -> None:
        """Have them ask this client for its cluster's id, which subjects by association may need.

        Args:
            client: their client.
            setter: the method that takes the function, which is a coroutine function where the client's is.
        """
        held = weakref.ref(client)

        def cluster_id() -> Any:
            client = held()
            found = None if client is None else client.cluster_id(CLUSTER_ID_S)
            if not found:
                raise SerializationError("the client of this serializer does not know its cluster's id")
            return found

        for made in self.made:
            if hasattr(made, setter):
                getattr(made, setter)(cluster_id)

    def close(self) -> None:
        """Closes them, all of them whatever fails. May be called again."""
        with contextlib.ExitStack() as then:
            while self.made:
                then.callback(getattr(self.made.pop(0), "close", bool))

    async def aclose(self) -> None:
        """Closes them, all of them whatever fails, and waits for those that have something to await."""
        async with contextlib.AsyncExitStack() as then:
            while self.made:
                then.push_async_callback(_aclose, self.made.pop(0))

    def _built(self, name: str, builder: Any, conf: dict[str, Any], is_key: bool) -> tuple[Any, dict[str, Any]]:
        result = builder.build(conf, is_key)
        if inspect.iscoroutine(result) or (isinstance(result, _Ready) and result.pending is not None):
            if inspect.iscoroutine(result):
                result.close()
            raise ValueError(f"{name} has to be awaited: await the constructor of an asyncio client that takes it")
        if not isinstance(result, tuple) or len(result) != 2:
            raise ValueError(
                f"{name} must return a (serde, configuration) tuple from build(), got {type(result).__name__}"
            )
        made, kept = result
        self.made.append(made)
        if not isinstance(kept, dict):
            raise ValueError(
                f"{name} returned {type(kept).__name__} as the leftover configuration from build(), expected a dict"
            )
        return made, kept


class _Made:
    """A builder that has built already."""

    def __init__(self, result: Any) -> None:
        self._result = result

    def build(self, conf: dict[str, Any], is_key: bool) -> Any:
        return self._result


def must_be_awaited(conf: Mapping[str, object]) -> bool:
    """Whether a builder of a client's configuration has something to await."""
    calls = [
        getattr(builder, call, None)
        for name, builder in conf.items()
        if name.endswith(".builder")
        for call in ("build", "_init")
    ]
    return any(map(inspect.iscoroutinefunction, calls))


async def awaited(conf: Mapping[str, object]) -> dict[str, object]:
    """A client's configuration with builders that have built.

    Raises:
        Exception: what a builder raises; what others had made is closed.
    """
    ready = dict(conf)
    rest = {name: value for name, value in conf.items() if not name.removesuffix(".builder").endswith("serializer")}
    try:
        for name, builder in conf.items():
            if name.endswith(".builder") and builder is not None:
                result = builder.build(dict(rest), name.startswith("key."))  # type: ignore[attr-defined]
                ready[name] = _Made(await result if inspect.isawaitable(result) else result)
    except BaseException:
        for made in [each for each in ready.values() if isinstance(each, _Made)]:
            await _aclose(made.build({}, False)[0])
        raise
    return ready


@contextlib.contextmanager
def closing_on_error(built: BuiltSerdes) -> Generator[None]:
    """Closes the built functions if the client can't be made."""
    try:
        yield
    except BaseException:
        built.close()
        raise
