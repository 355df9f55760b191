"""Limits on what a broker may make this client do: how much memory, time and silence its answers may ask for.

Must not know who applies them. `receive.message.max.bytes` bounds a response as a whole and is configured; what stands
here is not.
"""

from typing import Final

MAX_DECOMPRESSED_BYTES: Final = 256 * 1024 * 1024
"""Of one record batch: a few kilobytes on the wire can claim to be gigabytes."""

MAX_THROTTLE_S: Final = 30.0
"""Bound of the silence a broker may ask for. Brokers mute the connection themselves for as long as they mean it, some
ten seconds with their usual windows. librdkafka does not fall silent at all, Java obeys any number."""

MIN_SCRAM_ITERATIONS: Final = 4096
"""Fewer would make the password easy to find out from what is sent."""
MAX_SCRAM_ITERATIONS: Final = 262_144
"""More would stop the loop for a noticeable time; Kafka's own tool allows 16384."""

MAX_NAME_BYTES: Final = 2**15 - 1
"""Of a topic, group or client id in UTF-8: the length of a string is an int16 in most requests."""
