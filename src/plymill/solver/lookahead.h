/* All children of a node at once: what each move threatens, and in which order to try them.
 *
 * One lane a column. With AVX-512 the seven moves of a 7-column board are one pass of 64-bit
 * lanes; elsewhere the same loop is left to the compiler, which makes two passes of AVX2 or
 * scalar code of it. Both give the same answers, bit for bit.
 */
#ifndef PLYMILL_LOOKAHEAD_H
#define PLYMILL_LOOKAHEAD_H

#include "bitboard.h"
#if defined(__SSE4_1__)
#include <immintrin.h>
#endif

#define PM_LANES (PLYMILL_WIDTH <= 8 ? 8 : 16)
#define PM_NO_MOVE 65535 /* an order no move has: larger than any */

/* Order of a move, smallest first: centre columns before edges, then 16 less for each square on
 * which the mover could win, 8 less for an immediate threat, and 24 more for a move that lets the
 * opponent cover one of the mover's own winning squares. */
#define PM_ORDER_BASE 1000
#define PM_ORDER_THREAT 16
#define PM_ORDER_IMMEDIATE 8
#define PM_ORDER_WASTED 24

typedef struct {
    uint64_t wins[PM_LANES] __attribute__((aligned(64))); /* mover's winning squares after each move */
    uint16_t order[PM_LANES] __attribute__((aligned(16)));
} pm_children;

/* How central a column is: the centre most, then left before right, out to the edges. */
#define PM_CENTRE(c) (2 * (c) < PLYMILL_WIDTH ? 2 * (c) : 2 * (PLYMILL_WIDTH - 1 - (c)) + 1)
#define PM_BASE(c) ((c) < PLYMILL_WIDTH ? PM_ORDER_BASE - PM_CENTRE(c) : PM_NO_MOVE)
#define PM_FILE(c) ((c) < PLYMILL_WIDTH ? PM_COLUMN << (PM_STRIDE * (c) % 64) : 0)


#if defined(__AVX512F__) && defined(__AVX512VPOPCNTDQ__)

PM_INLINE __m512i pm_lines512(__m512i x)
{
    __m512i found = _mm512_and_si512(_mm512_and_si512(_mm512_slli_epi64(x, 1), _mm512_slli_epi64(x, 2)),
                                     _mm512_slli_epi64(x, 3));
#define PM_DIRECTION(step) { \
    __m512i up1 = _mm512_slli_epi64(x, step), up2 = _mm512_slli_epi64(x, 2 * (step)); \
    __m512i up3 = _mm512_slli_epi64(x, 3 * (step)), down1 = _mm512_srli_epi64(x, step); \
    __m512i down2 = _mm512_srli_epi64(x, 2 * (step)), down3 = _mm512_srli_epi64(x, 3 * (step)); \
    __m512i above = _mm512_and_si512(_mm512_and_si512(up1, up2), _mm512_or_si512(up3, down1)); \
    __m512i below = _mm512_and_si512(_mm512_and_si512(down1, down2), _mm512_or_si512(down3, up1)); \
    found = _mm512_or_si512(found, _mm512_or_si512(above, below)); }
    PM_DIRECTION(PM_STRIDE - 1)
    PM_DIRECTION(PM_STRIDE)
    PM_DIRECTION(PM_STRIDE + 1)
#undef PM_DIRECTION
    return found;
}

PM_INLINE int pm_eight_children(uint64_t own, uint64_t empty, uint64_t playable, uint64_t moves,
                                uint64_t own_wins, const uint64_t *files, const uint64_t *bases,
                                uint64_t *wins, uint16_t *order)
{
    __m512i move = _mm512_and_si512(_mm512_set1_epi64((long long)moves), _mm512_load_si512(files));
    __m512i above = _mm512_slli_epi64(move, 1);
    __m512i win = pm_lines512(_mm512_or_si512(_mm512_set1_epi64((long long)own), move));
    win = _mm512_and_si512(win, _mm512_andnot_si512(move, _mm512_set1_epi64((long long)empty)));
    /* Where the opponent can reply: the playable squares, the played one replaced by the next. */
    __m512i reply = _mm512_and_si512(
        _mm512_xor_si512(_mm512_or_si512(_mm512_set1_epi64((long long)playable), above), move),
        _mm512_set1_epi64((long long)PM_BOARD));
    __m512i threat = _mm512_and_si512(win, reply);
    __mmask8 legal = _mm512_test_epi64_mask(move, move);
    __mmask8 one = _mm512_test_epi64_mask(threat, threat);
    __mmask8 two = _mm512_test_epi64_mask(threat, _mm512_sub_epi64(threat, _mm512_set1_epi64(1)));
    /* A reply holds if it meets the threat, where there is one, and does not open a win on top. */
    __m512i meets = _mm512_mask_blend_epi64(one, reply, threat);
    __m512i holds = _mm512_andnot_si512(_mm512_srli_epi64(win, 1), meets);
    __mmask8 held = _mm512_test_epi64_mask(holds, holds);
    if ((two | (__mmask8)~held) & legal)
        return 1;
    _mm512_store_si512(wins, win);
    __m512i rank = _mm512_sub_epi64(_mm512_load_si512(bases),
                                    _mm512_slli_epi64(_mm512_popcnt_epi64(win), 4));
    __mmask8 wasted = _mm512_test_epi64_mask(above, _mm512_set1_epi64((long long)own_wins));
    rank = _mm512_mask_add_epi64(rank, wasted, rank, _mm512_set1_epi64(PM_ORDER_WASTED));
    rank = _mm512_mask_sub_epi64(rank, one, rank, _mm512_set1_epi64(PM_ORDER_IMMEDIATE));
    rank = _mm512_mask_mov_epi64(_mm512_set1_epi64(PM_NO_MOVE), legal, rank);
    _mm_store_si128((__m128i *)order, _mm512_cvtepi64_epi16(rank));
    return 0;
}

#else

PM_INLINE int pm_eight_children(uint64_t own, uint64_t empty, uint64_t playable, uint64_t moves,
                                uint64_t own_wins, const uint64_t *files, const uint64_t *bases,
                                uint64_t *wins, uint16_t *order)
{
    uint64_t threats[8], fails[8], any = 0;
    for (int c = 0; c < 8; c++) {
        uint64_t move = moves & files[c];
        uint64_t win = pm_winning_squares(own | move) & empty & ~move;
        uint64_t reply = ((playable | move << 1) ^ move) & PM_BOARD;
        uint64_t threat = win & reply;
        uint64_t holds = (threat ? threat : reply) & ~(win >> 1);
        wins[c] = win;
        threats[c] = threat;
        fails[c] = move && ((threat & (threat - 1)) || !holds);
    }
    for (int c = 0; c < 8; c++)
        any |= fails[c];
    if (any)
        return 1;
    for (int c = 0; c < 8; c++) {
        uint64_t move = moves & files[c];
        int rank = (int)bases[c] - PM_ORDER_THREAT * pm_popcount(wins[c]);
        rank += move << 1 & own_wins ? PM_ORDER_WASTED : 0;
        rank -= threats[c] ? PM_ORDER_IMMEDIATE : 0;
        order[c] = (uint16_t)(move ? rank : PM_NO_MOVE);
    }
    return 0;
}

#endif

/* Fills `children` for the given moves of the side that owns `own`. Returns 1, and fills nothing,
 * if one of them wins with the mover's next stone whatever the opponent replies: because it makes
 * two immediate threats, or leaves the opponent no reply that does not lose at once. `moves` must
 * hold no move that lets the opponent win at once, and `playable` all playable squares. */
PM_INLINE int pm_look_ahead(uint64_t own, uint64_t mask, uint64_t playable, uint64_t moves,
                            uint64_t own_wins, pm_children *children)
{
    static const uint64_t files[PM_LANES] __attribute__((aligned(64))) = {
        PM_FILE(0), PM_FILE(1), PM_FILE(2), PM_FILE(3), PM_FILE(4), PM_FILE(5), PM_FILE(6), PM_FILE(7)
#if PLYMILL_WIDTH > 8
        , PM_FILE(8)
#endif
    };
    static const uint64_t bases[PM_LANES] __attribute__((aligned(64))) = {
        PM_BASE(0), PM_BASE(1), PM_BASE(2), PM_BASE(3), PM_BASE(4), PM_BASE(5), PM_BASE(6), PM_BASE(7)
#if PLYMILL_WIDTH > 8
        , PM_BASE(8), PM_NO_MOVE, PM_NO_MOVE, PM_NO_MOVE, PM_NO_MOVE, PM_NO_MOVE, PM_NO_MOVE, PM_NO_MOVE
#endif
    };
    const uint64_t empty = PM_BOARD ^ mask;
    for (int block = 0; block < PM_LANES; block += 8)
        if (pm_eight_children(own, empty, playable, moves, own_wins, files + block, bases + block,
                              children->wins + block, children->order + block))
            return 1;
    return 0;
}

/* Takes the first column out of the order; -1 when there is none left. */
PM_INLINE int pm_next_column(uint16_t *order)
{
#if defined(__SSE4_1__) && PLYMILL_WIDTH <= 8
    __m128i ranks = _mm_load_si128((const __m128i *)order);
    __m128i least = _mm_minpos_epu16(ranks); /* lane 0 the smallest rank, lane 1 its place */
    if (_mm_extract_epi16(least, 0) == PM_NO_MOVE)
        return -1;
    int column = _mm_extract_epi16(least, 1);
    /* The whole vector is stored again: a store of 2 bytes would stall the next load of 16. */
    __m128i here = _mm_cmpeq_epi16(_mm_set1_epi16((short)column), _mm_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7));
    _mm_store_si128((__m128i *)order, _mm_or_si128(ranks, here));
#else
    int column = 0;
    for (int c = 1; c < PLYMILL_WIDTH; c++)
        if (order[c] < order[column])
            column = c;
    if (order[column] == PM_NO_MOVE)
        return -1;
    order[column] = PM_NO_MOVE;
#endif
    return column;
}

#endif
