# The functions of wire.h, for the other modules; bytes only, safe without the GIL.
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "wire.h" nogil:
    uint16_t ks_load16(const uint8_t* p)
    uint32_t ks_load32(const uint8_t* p)
    uint64_t ks_load64(const uint8_t* p)
    void ks_store16(uint8_t* p, uint16_t v)
    void ks_store32(uint8_t* p, uint32_t v)
    void ks_store64(uint8_t* p, uint64_t v)
    int ks_varint_size(int64_t v)
    uint8_t* ks_put_uvarint(uint8_t* p, uint64_t v)
    uint8_t* ks_put_varint(uint8_t* p, int64_t v)
    const uint8_t* ks_get_varint64(const uint8_t* p, const uint8_t* end, int64_t* out)
    const uint8_t* ks_get_varint32(const uint8_t* p, const uint8_t* end, int64_t* out)
    void ks_crc_init()
    uint32_t ks_crc32c(uint32_t crc, const uint8_t* p, size_t n)
    uint32_t ks_murmur2(const uint8_t* p, size_t n)
    uint32_t ks_fnv1a(const uint8_t* p, size_t n)
