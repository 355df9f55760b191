/* Bytes on the wire: big-endian loads and stores, zigzag varints, CRC-32C, murmur2, FNV-1a.
 * Must not know of Python objects: every function takes pointers and is safe without the GIL.
 * Spec: kafka.apache.org/protocol (types), RFC 3720 B.4 (CRC-32C), org.apache.kafka.common.utils.Utils (murmur2).
 */
#ifndef KSERDES_WIRE_H
#define KSERDES_WIRE_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t ks_load16(const uint8_t *p) { return (uint16_t)((p[0] << 8) | p[1]); }
static inline uint32_t ks_load32(const uint8_t *p) {
    return ((uint32_t)p[0] << 24) | ((uint32_t)p[1] << 16) | ((uint32_t)p[2] << 8) | (uint32_t)p[3];
}
static inline uint64_t ks_load64(const uint8_t *p) { return ((uint64_t)ks_load32(p) << 32) | ks_load32(p + 4); }
static inline void ks_store16(uint8_t *p, uint16_t v) { p[0] = (uint8_t)(v >> 8); p[1] = (uint8_t)v; }
static inline void ks_store32(uint8_t *p, uint32_t v) {
    p[0] = (uint8_t)(v >> 24); p[1] = (uint8_t)(v >> 16); p[2] = (uint8_t)(v >> 8); p[3] = (uint8_t)v;
}
static inline void ks_store64(uint8_t *p, uint64_t v) { ks_store32(p, (uint32_t)(v >> 32)); ks_store32(p + 4, (uint32_t)v); }

static inline uint64_t ks_zigzag(int64_t v) { return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63); }
static inline int64_t ks_unzigzag(uint64_t v) { return (int64_t)(v >> 1) ^ -(int64_t)(v & 1); }

static inline int ks_uvarint_size(uint64_t v) {
    int n = 1;
    while (v >= 0x80) { v >>= 7; n++; }
    return n;
}
static inline int ks_varint_size(int64_t v) { return ks_uvarint_size(ks_zigzag(v)); }

static inline uint8_t *ks_put_uvarint(uint8_t *p, uint64_t v) {
    while (v >= 0x80) { *p++ = (uint8_t)(v | 0x80); v >>= 7; }
    *p++ = (uint8_t)v;
    return p;
}
static inline uint8_t *ks_put_varint(uint8_t *p, int64_t v) { return ks_put_uvarint(p, ks_zigzag(v)); }

/* The pointer behind the varint, or NULL: it does not end before `end`, or is longer than `limit` bytes. */
static inline const uint8_t *ks_get_uvarint(const uint8_t *p, const uint8_t *end, int limit, uint64_t *out) {
    uint64_t v = 0;
    int shift = 0;
    while (p < end && limit-- > 0) {
        uint8_t byte = *p++;
        if (shift == 63 && byte > 1) return NULL;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) { *out = v; return p; }
        shift += 7;
    }
    return NULL;
}
static inline const uint8_t *ks_get_varint64(const uint8_t *p, const uint8_t *end, int64_t *out) {
    uint64_t v = 0;
    p = ks_get_uvarint(p, end, 10, &v);
    if (p != NULL) *out = ks_unzigzag(v);
    return p;
}
static inline const uint8_t *ks_get_varint32(const uint8_t *p, const uint8_t *end, int64_t *out) {
    uint64_t v = 0;
    p = ks_get_uvarint(p, end, 5, &v);
    if (p == NULL || v > UINT32_MAX) return NULL;
    *out = ks_unzigzag(v);
    return p;
}

static uint32_t ks_crc_table[8][256];
static inline void ks_crc_prepare(void) {
    for (uint32_t n = 0; n < 256; n++) {
        uint32_t crc = n;
        for (int bit = 0; bit < 8; bit++) crc = (crc & 1) ? (crc >> 1) ^ 0x82f63b78u : crc >> 1;
        ks_crc_table[0][n] = crc;
    }
    for (int slice = 1; slice < 8; slice++)
        for (uint32_t n = 0; n < 256; n++) {
            uint32_t crc = ks_crc_table[slice - 1][n];
            ks_crc_table[slice][n] = ks_crc_table[0][crc & 0xff] ^ (crc >> 8);
        }
}
static inline uint32_t ks_crc32c_table(uint32_t crc, const uint8_t *p, size_t n) {
    for (; n >= 8; n -= 8, p += 8) {
        crc ^= (uint32_t)p[0] | ((uint32_t)p[1] << 8) | ((uint32_t)p[2] << 16) | ((uint32_t)p[3] << 24);
        crc = ks_crc_table[7][crc & 0xff] ^ ks_crc_table[6][(crc >> 8) & 0xff] ^ ks_crc_table[5][(crc >> 16) & 0xff] ^
              ks_crc_table[4][crc >> 24] ^ ks_crc_table[3][p[4]] ^ ks_crc_table[2][p[5]] ^ ks_crc_table[1][p[6]] ^
              ks_crc_table[0][p[7]];
    }
    while (n--) crc = ks_crc_table[0][(crc ^ *p++) & 0xff] ^ (crc >> 8);
    return crc;
}
#if defined(__x86_64__) && defined(__GNUC__)
#include <nmmintrin.h>
__attribute__((target("sse4.2"))) static inline uint32_t ks_crc32c_sse42(uint32_t crc, const uint8_t *p, size_t n) {
    uint64_t wide = crc;
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        wide = _mm_crc32_u64(wide, word);
    }
    crc = (uint32_t)wide;
    while (n--) crc = _mm_crc32_u8(crc, *p++);
    return crc;
}
static inline int ks_crc_hardware(void) { return __builtin_cpu_supports("sse4.2"); }
#else
static inline uint32_t ks_crc32c_sse42(uint32_t crc, const uint8_t *p, size_t n) { return ks_crc32c_table(crc, p, n); }
static inline int ks_crc_hardware(void) { return 0; }
#endif
static int ks_crc_ready = 0, ks_crc_fast = 0;
/* CRC-32C of the bytes, going on from `crc` (0 at the start). Needs ks_crc_init() once, under the GIL. */
static inline void ks_crc_init(void) {
    if (!ks_crc_ready) { ks_crc_prepare(); ks_crc_fast = ks_crc_hardware(); ks_crc_ready = 1; }
}
static inline uint32_t ks_crc32c(uint32_t crc, const uint8_t *p, size_t n) {
    return ~(ks_crc_fast ? ks_crc32c_sse42(~crc, p, n) : ks_crc32c_table(~crc, p, n));
}

static inline uint32_t ks_murmur2(const uint8_t *p, size_t n) {
    const uint32_t m = 0x5bd1e995u;
    uint32_t h = 0x9747b28cu ^ (uint32_t)n;
    for (; n >= 4; n -= 4, p += 4) {
        uint32_t k = (uint32_t)p[0] | ((uint32_t)p[1] << 8) | ((uint32_t)p[2] << 16) | ((uint32_t)p[3] << 24);
        k *= m; k ^= k >> 24; k *= m;
        h *= m; h ^= k;
    }
    switch (n) {
    case 3: h ^= (uint32_t)p[2] << 16; /* fall through */
    case 2: h ^= (uint32_t)p[1] << 8;  /* fall through */
    case 1: h ^= (uint32_t)p[0]; h *= m;
    }
    h ^= h >> 13; h *= m; h ^= h >> 15;
    return h;
}
static inline uint32_t ks_fnv1a(const uint8_t *p, size_t n) {
    uint32_t h = 2166136261u;
    while (n--) { h ^= *p++; h *= 16777619u; }
    return h;
}
#endif
