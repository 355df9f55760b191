from serdes.kernels.pure.avro_logical import (
    ReadDate as ReadDate,
)
from serdes.kernels.pure.avro_logical import (
    ReadDecimal as ReadDecimal,
)
from serdes.kernels.pure.avro_logical import (
    ReadInstant as ReadInstant,
)
from serdes.kernels.pure.avro_logical import (
    ReadTimeOfDay as ReadTimeOfDay,
)
from serdes.kernels.pure.avro_logical import (
    ReadUUID as ReadUUID,
)
from serdes.kernels.pure.avro_logical import (
    WriteDate as WriteDate,
)
from serdes.kernels.pure.avro_logical import (
    WriteDecimal as WriteDecimal,
)
from serdes.kernels.pure.avro_logical import (
    WriteInstant as WriteInstant,
)
from serdes.kernels.pure.avro_logical import (
    WriteTimeOfDay as WriteTimeOfDay,
)
from serdes.kernels.pure.avro_logical import (
    WriteUUID as WriteUUID,
)
