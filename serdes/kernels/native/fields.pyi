from serdes.kernels.pure.fields import (
    ANY,
    KNOWN,
    NONE,
    PLAIN,
    TEXT,
    FieldReader,
    FieldWriter,
    ProduceCall,
    last_of_each,
)

__all__ = ["ANY", "KNOWN", "NONE", "PLAIN", "TEXT", "FieldReader", "FieldWriter", "ProduceCall", "last_of_each"]
