from serdes.kernels.pure.avro import *
