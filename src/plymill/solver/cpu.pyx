"""Which instruction sets this processor has, as far as the solver's variants need them."""

cdef extern from *:
    """
    #if defined(__x86_64__)
    #include <cpuid.h>
    /* MOVBE, F16C and LZCNT, which not every compiler's __builtin_cpu_supports knows. Without
     * LZCNT its code would run all the same, as BSR, and count wrong. */
    static int pm_has_v3_rest(void)
    {
        unsigned eax, ebx, ecx, edx, extended = 0;
        if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)
            || !__get_cpuid(0x80000001, &eax, &ebx, &extended, &edx))
            return 0;
        return (ecx >> 22 & 1) && (ecx >> 29 & 1) && (extended >> 5 & 1);
    }
    static int pm_has_v3(void)
    {
        __builtin_cpu_init();
        return pm_has_v3_rest() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi")
            && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma")
            && __builtin_cpu_supports("popcnt");
    }
    static int pm_has_v4(void)
    {
        return pm_has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
            && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq")
            && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vpopcntdq");
    }
    #else
    static int pm_has_v3(void) { return 0; }
    static int pm_has_v4(void) { return 0; }
    #endif
    """
    bint pm_has_v3() nogil
    bint pm_has_v4() nogil


def supported_levels():
    """The x86-64 levels above the baseline that this processor runs, highest first.

    ``"v4"`` here asks for AVX-512 with VPOPCNTDQ as well (Ice Lake, Zen 4 and later).
    """
    levels = []
    if pm_has_v4():
        levels.append("v4")
    if pm_has_v3():
        levels.append("v3")
    return levels
