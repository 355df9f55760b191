from serdes.kernels.pure.avro_objects import (
    ReadObject as ReadObject,
)
from serdes.kernels.pure.avro_objects import (
    WriteByClass as WriteByClass,
)
from serdes.kernels.pure.avro_objects import (
    WriteMember as WriteMember,
)
from serdes.kernels.pure.avro_objects import (
    WriteObject as WriteObject,
)
