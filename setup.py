"""Builds the Cython extensions; everything else stands in pyproject.toml.

The solver's search and the players' engine are one source each, compiled once for each level of
processor, and ``dispatch`` beside them picks the best that runs: so one wheel is portable and
still uses AVX-512 where there is any. All other extensions are compiled for the baseline.
"""

import os
import platform
import shutil
import tomllib
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

ROOT = Path(__file__).parent
PACKAGE = ROOT / "src" / "plymill"
GENERATED = ROOT / "build" / "variants"

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FLAGS = PROJECT["tool"]["plymill"]["flags"]  # by level of processor

X86 = platform.machine().lower() in {"x86_64", "amd64"}
LEVELS = ("v2", "v3", "v4") if X86 else ("generic",)
BASELINE = FLAGS[LEVELS[0]]
VARIANTS = {level: FLAGS[level] for level in LEVELS}
# Fused multiplications would round otherwise on processors that have them: the players' matches
# have to be the same everywhere. Square roots never set errno, and so need no function call.
EXACT = ["-ffp-contract=off", "-fno-math-errno"]
VARIED = {PACKAGE / "solver" / "search.pyx": [], PACKAGE / "players" / "engine.pyx": EXACT}
HEADERS = [str(h.relative_to(ROOT)) for h in sorted(PACKAGE.rglob("*.h"))]


def extension(name: str, source: Path, flags: list[str]) -> Extension:
    return Extension(
        name,
        [str(source.relative_to(ROOT))],
        include_dirs=[f"src/plymill/{room}" for room in ("games", "solver", "players")],
        depends=HEADERS,
        extra_compile_args=flags,
    )


def variant_source(source: Path, level: str) -> Path:
    """A copy of a source under the variant's module name; rewritten only when it changed."""
    target = GENERATED / f"_{source.stem}_{level}.pyx"
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists() or target.read_bytes() != source.read_bytes():
        shutil.copyfile(source, target)
    return target


def extensions() -> list[Extension]:
    plain = [
        extension(".".join(p.relative_to(ROOT / "src").with_suffix("").parts), p, BASELINE)
        for p in sorted(PACKAGE.rglob("*.pyx"))
        if p not in VARIED
    ]
    variants = [
        extension(
            f"plymill.{source.parent.name}._{source.stem}_{level}",
            variant_source(source, level),
            flags + more,
        )
        for source, more in VARIED.items()
        for level, flags in VARIANTS.items()
        if source.exists()
    ]
    if not plain or not variants:
        raise SystemExit(f"There are no Cython sources under {PACKAGE}: nothing to compile.")
    return plain + variants


setup(
    options={"build_ext": {"parallel": os.cpu_count() or 1}},
    ext_modules=cythonize(
        extensions(),
        include_path=["src"],
        build_dir="build/cython",
        nthreads=os.cpu_count() or 1,
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            "initializedcheck": False,
            "cdivision": True,
            "freethreading_compatible": True,
            "embedsignature": True,
        },
    ),
)
