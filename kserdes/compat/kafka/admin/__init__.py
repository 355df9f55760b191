"""`kafka.admin` of kafka-python 3.0 on `kafka_core.admin`: the client, and the values it takes and gives."""

from kserdes.compat.kafka.admin.client import *  # noqa: F403
from kserdes.compat.kafka.admin.client import __all__ as __all__
