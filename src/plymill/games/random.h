/* The random numbers of one match: xoshiro256++ (Blackman and Vigna, 2019), which is jumpable and
   has 256 bits of state; each match has a stream of its own, chosen by (seed, cell, match).

   Only integer additions, multiplications, shifts and exclusive ors: the same numbers on every
   machine. */

#ifndef PLYMILL_RANDOM_H
#define PLYMILL_RANDOM_H

#include <stdint.h>

typedef struct {
    uint64_t s[4];
} random_stream;

static inline uint64_t random_rotl(uint64_t x, int k) {
    return (x << k) | (x >> (64 - k));
}

/* SplitMix64's output function: a bijection that spreads every bit of x. */
static inline uint64_t random_mix(uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* c tells match, cell and seed apart together with the two words that it hides: no two matches start
   from the same state. It is never all zeros, as random_mix(c) and c cannot both be. */
static inline void random_start(random_stream *r, uint64_t seed, uint64_t cell, uint64_t match) {
    uint64_t a = random_mix(seed);
    uint64_t b = random_mix(a ^ cell);
    uint64_t c = random_mix(b ^ match);
    r->s[0] = random_mix(c);
    r->s[1] = a ^ random_mix(c + 1);
    r->s[2] = b ^ random_mix(c + 2);
    r->s[3] = c;
}

static inline uint64_t random_next(random_stream *r) {
    uint64_t *s = r->s;
    uint64_t result = random_rotl(s[0] + s[3], 23) + s[0];
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = random_rotl(s[3], 45);
    return result;
}

/* A number in 0..n-1 (n >= 1) from the upper half of one draw; no number is favoured by more than
   n / 2^32. */
static inline uint32_t random_below(random_stream *r, uint32_t n) {
    return (uint32_t)(((random_next(r) >> 32) * n) >> 32);
}

#endif
