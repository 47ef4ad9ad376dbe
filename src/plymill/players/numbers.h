/* The square root of ln N, by additions, multiplications, divisions and square roots only, which
 * IEEE 754 defines to the last bit: a search is then the same on every machine. The C library's
 * log is not. Compiled with -ffp-contract=off, as a fused multiplication rounds otherwise.
 */
#ifndef PLYMILL_NUMBERS_H
#define PLYMILL_NUMBERS_H

#include <stdint.h>

#define UCT_ROOTS (1 << 16) /* roots in the table; further ones are computed when needed */

static double uct_roots[UCT_ROOTS];

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

static inline double uct_root(uint32_t n)
{
    return n < UCT_ROOTS ? uct_roots[n] : __builtin_sqrt(uct_log(n));
}

static inline void uct_fill_roots(void)
{
    for (uint32_t n = 1; n < UCT_ROOTS; n++)
        uct_roots[n] = __builtin_sqrt(uct_log(n));
}

#endif
