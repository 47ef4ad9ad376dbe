/* What the value of a move is made of, 1 / sqrt(n) and sqrt(ln N), by additions, multiplications,
 * divisions and square roots only, which IEEE 754 defines to the last bit: a search is then the same
 * on every machine. The C library's log is not. Compiled with -ffp-contract=off, as a fused
 * multiplication rounds otherwise. Tables of both hold the numbers that are needed most.
 */
#ifndef PLYMILL_NUMBERS_H
#define PLYMILL_NUMBERS_H

#include <stdint.h>

enum {
    UCT_LOGS = 1 << 16,     /* 512 KiB, read in order more or less */
    UCT_INVERSES = 1 << 10, /* 8 KiB: most moves are tried a few times only */
};

static double uct_logs[UCT_LOGS], uct_inverses[UCT_INVERSES];

/* ln n for n >= 1: n = 2^e * m with m near 1, and the series of the inverse hyperbolic tangent. */
static inline double uct_log(uint32_t n)
{
    int e = 31 - __builtin_clz(n);
    double m = (double)n / (double)(UINT32_C(1) << e);
    if (m > 1.4142135623730951) {
        m *= 0.5;
        e++;
    }
    double s = (m - 1.0) / (m + 1.0), z = s * s, t = 1.0 / 23.0;
    for (int k = 21; k >= 1; k -= 2)
        t = t * z + 1.0 / (double)k;
    return (double)e * 0.6931471805599453 + 2.0 * s * t;
}

/* sqrt(ln n) */
static inline double uct_log_root(uint32_t n)
{
    return n < UCT_LOGS ? uct_logs[n] : __builtin_sqrt(uct_log(n));
}

/* 1 / sqrt(n) */
static inline double uct_inverse_root(uint32_t n)
{
    return n < UCT_INVERSES ? uct_inverses[n] : __builtin_sqrt(1.0 / (double)(int32_t)n);
}

static inline void uct_fill_tables(void)
{
    for (uint32_t n = 1; n < UCT_LOGS; n++)
        uct_logs[n] = __builtin_sqrt(uct_log(n));
    for (uint32_t n = 1; n < UCT_INVERSES; n++)
        uct_inverses[n] = __builtin_sqrt(1.0 / (double)n);
}

#endif
