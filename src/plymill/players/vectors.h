/* Vectors of 64-bit words or of doubles, 8 with AVX-512 and 4 with AVX2, for code that is written once
 * for both. Without either VEC_WORDS is 0. A mask says of each word yes or no.
 */
#ifndef PLYMILL_VECTORS_H
#define PLYMILL_VECTORS_H

#include "bitboard.h"

#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__)

#include <immintrin.h>
#define VEC_WORDS 8
typedef __m512i vec;
typedef __mmask8 vec_mask;

PM_INLINE vec vec_load(const uint64_t *words) { return _mm512_loadu_si512(words); }
PM_INLINE void vec_store(uint64_t *words, vec a) { _mm512_storeu_si512(words, a); }
PM_INLINE vec vec_all(uint64_t word) { return _mm512_set1_epi64((long long)word); }
PM_INLINE vec vec_add(vec a, vec b) { return _mm512_add_epi64(a, b); }
PM_INLINE vec vec_sub(vec a, vec b) { return _mm512_sub_epi64(a, b); }
PM_INLINE vec vec_and(vec a, vec b) { return _mm512_and_si512(a, b); }
PM_INLINE vec vec_or(vec a, vec b) { return _mm512_or_si512(a, b); }
PM_INLINE vec vec_xor(vec a, vec b) { return _mm512_xor_si512(a, b); }
PM_INLINE vec vec_or_and(vec a, vec b, vec c) { return _mm512_ternarylogic_epi64(a, b, c, 0xF8); }
PM_INLINE vec vec_shl(vec a, vec bits) { return _mm512_sllv_epi64(a, bits); }
PM_INLINE vec vec_shr(vec a, vec bits) { return _mm512_srlv_epi64(a, bits); }
#define vec_shl_by(a, bits) _mm512_slli_epi64(a, bits)
#define vec_shr_by(a, bits) _mm512_srli_epi64(a, bits)
#define vec_rotl_by(a, bits) _mm512_rol_epi64(a, bits)
/* The product of the lower halves. */
PM_INLINE vec vec_mul32(vec a, vec b) { return _mm512_mul_epu32(a, b); }

PM_INLINE vec_mask vec_first(int count) { return (vec_mask)((1u << count) - 1); }
PM_INLINE vec_mask vec_test(vec a, vec b) { return _mm512_test_epi64_mask(a, b); }
PM_INLINE vec_mask vec_is_zero(vec a) { return _mm512_testn_epi64_mask(a, a); }
PM_INLINE vec_mask vec_both(vec_mask a, vec_mask b) { return a & b; }
PM_INLINE vec_mask vec_either(vec_mask a, vec_mask b) { return a | b; }
PM_INLINE vec_mask vec_without(vec_mask a, vec_mask b) { return (vec_mask)(a & ~b); }
PM_INLINE int vec_any(vec_mask a) { return a != 0; }
/* b where the mask says yes, else a. */
PM_INLINE vec vec_where(vec_mask mask, vec a, vec b) { return _mm512_mask_mov_epi64(a, mask, b); }

typedef __m512d vec_real;
PM_INLINE vec_real real_load(const double *numbers) { return _mm512_load_pd(numbers); }
PM_INLINE void real_store(double *numbers, vec_real a) { _mm512_store_pd(numbers, a); }
PM_INLINE vec_real real_from(const uint32_t *numbers) /* below 2^31 */
{
    return _mm512_cvtepi32_pd(_mm256_loadu_si256((const __m256i *)numbers));
}
PM_INLINE vec_real real_all(double number) { return _mm512_set1_pd(number); }
PM_INLINE vec_real real_add(vec_real a, vec_real b) { return _mm512_add_pd(a, b); }
PM_INLINE vec_real real_mul(vec_real a, vec_real b) { return _mm512_mul_pd(a, b); }
PM_INLINE vec_real real_max(vec_real a, vec_real b) { return _mm512_max_pd(a, b); }
PM_INLINE double real_highest(vec_real a) { return _mm512_reduce_max_pd(a); }
/* A bit for each number that is equal. */
PM_INLINE unsigned real_equal(vec_real a, vec_real b)
{
    return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ);
}
/* The vector with another number at one place. */
PM_INLINE vec_real real_with(vec_real a, int place, double number)
{
    a = _mm512_mask_mov_pd(a, (__mmask8)(1u << place), real_all(number));
    /* Or else the compiler writes the one number only, and who reads the vector has to wait. */
    __asm__("" : "+v"(a));
    return a;
}

#elif defined(__AVX2__)

#include <immintrin.h>
#define VEC_WORDS 4
typedef __m256i vec;
typedef __m256i vec_mask;

PM_INLINE vec vec_load(const uint64_t *words) { return _mm256_loadu_si256((const vec *)words); }
PM_INLINE void vec_store(uint64_t *words, vec a) { _mm256_storeu_si256((vec *)words, a); }
PM_INLINE vec vec_all(uint64_t word) { return _mm256_set1_epi64x((long long)word); }
PM_INLINE vec vec_add(vec a, vec b) { return _mm256_add_epi64(a, b); }
PM_INLINE vec vec_sub(vec a, vec b) { return _mm256_sub_epi64(a, b); }
PM_INLINE vec vec_and(vec a, vec b) { return _mm256_and_si256(a, b); }
PM_INLINE vec vec_or(vec a, vec b) { return _mm256_or_si256(a, b); }
PM_INLINE vec vec_xor(vec a, vec b) { return _mm256_xor_si256(a, b); }
PM_INLINE vec vec_or_and(vec a, vec b, vec c) { return vec_or(a, vec_and(b, c)); }
PM_INLINE vec vec_shl(vec a, vec bits) { return _mm256_sllv_epi64(a, bits); }
PM_INLINE vec vec_shr(vec a, vec bits) { return _mm256_srlv_epi64(a, bits); }
#define vec_shl_by(a, bits) _mm256_slli_epi64(a, bits)
#define vec_shr_by(a, bits) _mm256_srli_epi64(a, bits)
#define vec_rotl_by(a, bits) vec_or(vec_shl_by(a, bits), vec_shr_by(a, 64 - (bits)))
PM_INLINE vec vec_mul32(vec a, vec b) { return _mm256_mul_epu32(a, b); }

PM_INLINE vec_mask vec_is_zero(vec a) { return _mm256_cmpeq_epi64(a, _mm256_setzero_si256()); }
PM_INLINE vec_mask vec_both(vec_mask a, vec_mask b) { return vec_and(a, b); }
PM_INLINE vec_mask vec_either(vec_mask a, vec_mask b) { return vec_or(a, b); }
PM_INLINE vec_mask vec_without(vec_mask a, vec_mask b) { return _mm256_andnot_si256(b, a); }
PM_INLINE vec_mask vec_test(vec a, vec b)
{
    return _mm256_xor_si256(vec_is_zero(vec_and(a, b)), vec_all(~UINT64_C(0)));
}
PM_INLINE vec_mask vec_first(int count)
{
    return _mm256_cmpgt_epi64(vec_all((uint64_t)count), _mm256_set_epi64x(3, 2, 1, 0));
}
PM_INLINE int vec_any(vec_mask a) { return !_mm256_testz_si256(a, a); }
PM_INLINE vec vec_where(vec_mask mask, vec a, vec b) { return _mm256_blendv_epi8(a, b, mask); }

typedef __m256d vec_real;
PM_INLINE vec_real real_load(const double *numbers) { return _mm256_load_pd(numbers); }
PM_INLINE void real_store(double *numbers, vec_real a) { _mm256_store_pd(numbers, a); }
PM_INLINE vec_real real_from(const uint32_t *numbers) /* below 2^31 */
{
    return _mm256_cvtepi32_pd(_mm_loadu_si128((const __m128i *)numbers));
}
PM_INLINE vec_real real_all(double number) { return _mm256_set1_pd(number); }
PM_INLINE vec_real real_add(vec_real a, vec_real b) { return _mm256_add_pd(a, b); }
PM_INLINE vec_real real_mul(vec_real a, vec_real b) { return _mm256_mul_pd(a, b); }
PM_INLINE vec_real real_max(vec_real a, vec_real b) { return _mm256_max_pd(a, b); }
PM_INLINE double real_highest(vec_real a)
{
    __m128d two = _mm_max_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
    return _mm_cvtsd_f64(_mm_max_sd(two, _mm_unpackhi_pd(two, two)));
}
PM_INLINE unsigned real_equal(vec_real a, vec_real b)
{
    return (unsigned)_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_EQ_OQ));
}
PM_INLINE vec_real real_with(vec_real a, int place, double number)
{
    vec_mask here = _mm256_cmpeq_epi64(vec_all((uint64_t)place), _mm256_set_epi64x(3, 2, 1, 0));
    return _mm256_blendv_pd(a, real_all(number), _mm256_castsi256_pd(here));
}

#else
#define VEC_WORDS 0
#endif

#endif
