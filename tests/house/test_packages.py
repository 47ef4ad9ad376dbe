"""What is handed out: a source distribution and a wheel that work without the checkout."""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.long]

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "plymill"
FILES = ("setup.py", "pyproject.toml", "MANIFEST.in", "README.md", "CHANGELOG.md", "LICENSE")
MOVES, SCORE = "444441234123", 3
SOLVE = f"import plymill; print(plymill.solve('{MOVES}'))"
VARIANTS = "from plymill.solver import variants; print(*variants())"


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, and the wheel built from it, made where nothing was built before."""
    source = tmp_path_factory.mktemp("source")
    shutil.copytree(
        PACKAGE, source / "src" / "plymill", ignore=shutil.ignore_patterns("*.so", "__pycache__")
    )
    for name in FILES:
        shutil.copy(ROOT / name, source)
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, source)
    return folder


@pytest.fixture(scope="module")
def python(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of a new environment that holds the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("venv")
    run(sys.executable, "-m", "venv", folder)
    (wheel,) = dist.glob("*.whl")
    run(folder / "bin" / "python", "-m", "pip", "install", "--quiet", wheel)
    return folder / "bin" / "python"


def run(*command: object, cwd: Path | None = None, **variables: str) -> str:
    """Standard output of a command that has to succeed, in an environment without PYTHONPATH."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def test_the_source_distribution_holds_all_that_is_compiled(dist: Path) -> None:
    (archive,) = dist.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    for path in PACKAGE.rglob("*"):
        if path.suffix in {".py", ".pyx", ".pxd", ".pyi", ".h", ".typed"}:
            assert str(path.relative_to(ROOT)) in names
    assert {"LICENSE", "README.md", "setup.py", "pyproject.toml"} <= names
    assert not any(name.endswith((".so", ".c")) for name in names)


def test_the_wheel_holds_modules_types_and_headers_and_nothing_else(dist: Path) -> None:
    (wheel,) = dist.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert all(name.startswith(("plymill/", "plymill-")) for name in names)
    assert "plymill/py.typed" in names
    modules = {name.partition(".")[0] for name in names if name.endswith(".so")}
    for path in PACKAGE.rglob("*.pyx"):
        if path.stem not in {"search", "engine"}:  # compiled once for each level of processor
            assert str(path.relative_to(PACKAGE.parent).with_suffix("")) in modules
    for variant in ("plymill/solver/_search_", "plymill/players/_engine_"):
        assert sum(name.startswith(variant) for name in modules) in (1, 3)
    for path in (*PACKAGE.rglob("*.pyi"), *PACKAGE.rglob("*.h")):
        assert str(path.relative_to(PACKAGE.parent)) in names
    for folder in ("templates", "static"):
        for path in (PACKAGE / "web" / folder).rglob("*.*"):
            assert str(path.relative_to(PACKAGE.parent)) in names
    assert not any(name.endswith((".pyx", ".c")) for name in names)


def test_the_wheel_solves_in_an_empty_environment_outside_of_the_checkout(
    python: Path, tmp_path: Path
) -> None:
    where = run(python, "-c", "import plymill; print(plymill.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(python.parents[1])
    variants = run(python, "-c", VARIANTS, cwd=tmp_path).split()
    assert variants
    for variant in variants:
        solved = run(python, "-c", SOLVE, cwd=tmp_path, PLYMILL_VARIANT=variant)
        assert solved == f"{SCORE}\n"
    told = run(python.parent / "plymill", "solve", MOVES, "--json", cwd=tmp_path)
    assert f'"score": {SCORE}' in told
