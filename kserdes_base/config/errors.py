"""The errors of configurations: one family, whatever package the configuration belongs to.

Must not import any other module: error trees of other packages derive from it.

PropertyError                    a ValueError
├── PropertyTypeError            also a TypeError: the value is of a type that the property does not take
├── kafka_core.ConfigError       also a KafkaException with the code _INVALID_ARG, as in confluent_kafka
└── pipeline.OptionError         also a PipelineError
"""

from __future__ import annotations


class PropertyError(ValueError):
    """A property of a configuration is unknown, ill-typed, out of range, missing or at odds with another one.

    The text names the property and what it takes; a secret's value is never in it.

    Args:
        text: one sentence for people.
        property: see the attribute.
        accepted: see the attribute.
        nearest: see the attribute.

    Attributes:
        property: the name as it was given; None where the configuration as a whole is wrong.
        accepted: what the property takes, in words (`a whole number from 0 to 1000`); None if its value is not at
            fault.
        nearest: the known name that is most like an unknown one; None if there is none like it.
    """

    def __init__(
        self,
        text: object = "",
        *args: object,
        property: str | None = None,
        accepted: str | None = None,
        nearest: str | None = None,
    ) -> None:
        super().__init__(text, *args)
        self.property = property
        self.accepted = accepted
        self.nearest = nearest


class PropertyTypeError(PropertyError, TypeError):
    """A property's value is of a type that it does not take; a `TypeError` too."""
