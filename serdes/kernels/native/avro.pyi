from serdes.kernels.pure.avro import (
    Decoder as Decoder,
)
from serdes.kernels.pure.avro import (
    Encoder as Encoder,
)
from serdes.kernels.pure.avro import (
    ReadArray as ReadArray,
)
from serdes.kernels.pure.avro import (
    ReadBoolean as ReadBoolean,
)
from serdes.kernels.pure.avro import (
    ReadBytes as ReadBytes,
)
from serdes.kernels.pure.avro import (
    ReadConverted as ReadConverted,
)
from serdes.kernels.pure.avro import (
    ReadDouble as ReadDouble,
)
from serdes.kernels.pure.avro import (
    ReadEnum as ReadEnum,
)
from serdes.kernels.pure.avro import (
    Reader as Reader,
)
from serdes.kernels.pure.avro import (
    ReadFixed as ReadFixed,
)
from serdes.kernels.pure.avro import (
    ReadFloat as ReadFloat,
)
from serdes.kernels.pure.avro import (
    ReadInt as ReadInt,
)
from serdes.kernels.pure.avro import (
    ReadMap as ReadMap,
)
from serdes.kernels.pure.avro import (
    ReadNull as ReadNull,
)
from serdes.kernels.pure.avro import (
    ReadRecord as ReadRecord,
)
from serdes.kernels.pure.avro import (
    ReadRefused as ReadRefused,
)
from serdes.kernels.pure.avro import (
    ReadString as ReadString,
)
from serdes.kernels.pure.avro import (
    ReadTagged as ReadTagged,
)
from serdes.kernels.pure.avro import (
    ReadUnion as ReadUnion,
)
from serdes.kernels.pure.avro import (
    WriteArray as WriteArray,
)
from serdes.kernels.pure.avro import (
    WriteBoolean as WriteBoolean,
)
from serdes.kernels.pure.avro import (
    WriteBytes as WriteBytes,
)
from serdes.kernels.pure.avro import (
    WriteDouble as WriteDouble,
)
from serdes.kernels.pure.avro import (
    WriteEnum as WriteEnum,
)
from serdes.kernels.pure.avro import (
    WriteFixed as WriteFixed,
)
from serdes.kernels.pure.avro import (
    WriteFloat as WriteFloat,
)
from serdes.kernels.pure.avro import (
    WriteInt as WriteInt,
)
from serdes.kernels.pure.avro import (
    WriteMap as WriteMap,
)
from serdes.kernels.pure.avro import (
    WriteNull as WriteNull,
)
from serdes.kernels.pure.avro import (
    WritePrepared as WritePrepared,
)
from serdes.kernels.pure.avro import (
    Writer as Writer,
)
from serdes.kernels.pure.avro import (
    WriteRecord as WriteRecord,
)
from serdes.kernels.pure.avro import (
    WriteString as WriteString,
)
from serdes.kernels.pure.avro import (
    WriteUnion as WriteUnion,
)
