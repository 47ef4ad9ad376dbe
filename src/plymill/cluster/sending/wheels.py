"""The plymill that is sent to a cluster: a wheel, or what is installed here, laid out as a package.

A wheel fits some Pythons and platforms only, as its compiled parts do. Whether it fits the nodes of
a cluster is said before anything is started there.
"""

import re
import shutil
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from plymill._version import __version__
from plymill.cluster.errors import ClusterError
from plymill.cluster.sending.look import ClusterLook, NodeLook
from plymill.errors import told

_PACKAGE = Path(__file__).parents[2]
_NAME = re.compile(
    r"plymill-(?P<version>[^-]+)(-\d[^-]*)?-(?P<py>[^-]+)-(?P<abi>[^-]+)-(?P<on>.+)\.whl"
)
_LINUX = re.compile(r"(many)?linux(_(?P<major>\d+)_(?P<minor>\d+))?_(?P<machine>[a-z0-9_]+)")
_OLD_NAMES = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}
_SKIPPED = shutil.ignore_patterns("__pycache__", "*.pyx", "*.pxd", "*.pyi", "*.h", "*.c", "*.cpp")
_BUILD_HINT = "build a wheel on a machine like those ('make wheel') and name it with --wheel"


@dataclass(frozen=True, slots=True)
class Wheel:
    """What is sent.

    Attributes:
        path: a wheel, or the folder of an installed package.
        version: of plymill.
        python: which Python its compiled parts are for, such as cp311.
        platforms: such as linux_x86_64 or manylinux_2_17_x86_64.
        libc: the C library that it was built with, if that is known.
        requires: the packages that it needs.
    """

    path: Path
    version: str
    python: str
    platforms: tuple[str, ...]
    requires: tuple[str, ...]
    libc: tuple[int, int] | None = None

    def unpack(self, folder: Path) -> Path:
        """Lay the package out in ``folder``; returns its own folder there."""
        target = folder / "plymill"
        if self.path.is_dir():
            shutil.copytree(self.path, target, ignore=_SKIPPED)
            return target
        try:
            with zipfile.ZipFile(self.path) as archive:
                names = [name for name in archive.namelist() if name.startswith("plymill/")]
                archive.extractall(folder, names)
        except (OSError, zipfile.BadZipFile, ValueError) as error:
            raise ClusterError(f"{self.path} cannot be unpacked: {error}.") from error
        if not (target / "__init__.py").is_file():
            raise ClusterError(f"{self.path} holds no plymill.")
        return target


def open_wheel(path: Path) -> Wheel:
    """A wheel file of plymill.

    Raises:
        ClusterError: it is none.
    """
    match = _NAME.fullmatch(path.name)
    if match is None:
        raise ClusterError(
            f"{path} is no wheel of plymill: expected a name such as "
            "plymill-0.1.0-cp311-cp311-linux_x86_64.whl."
        )
    try:
        with zipfile.ZipFile(path) as archive:
            name = next(n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
            fields = archive.read(name).decode()
    except OSError as error:
        raise ClusterError(f"{path}: cannot read the wheel: {told(error)}.") from error
    except (zipfile.BadZipFile, StopIteration, ValueError):
        raise ClusterError(f"{path} is no wheel: it is cut short or altered.") from None
    needs = re.findall(r"^Requires-Dist: (.+)$", fields, re.MULTILINE)
    return Wheel(path, match["version"], match["py"], tuple(match["on"].split(".")), _own(needs))


def installed_wheel() -> Wheel:
    """What is installed here, as if it were a wheel: a checkout, too, once it is built.

    Raises:
        ClusterError: its compiled parts are missing.
    """
    import platform
    import sys
    import sysconfig

    suffix = sysconfig.get_config_var("EXT_SUFFIX") or ".so"
    if not any(_PACKAGE.rglob(f"*{suffix}")):
        raise ClusterError(
            f"{_PACKAGE} has no compiled parts that could be sent to a cluster; 'make build' makes "
            "them, and --wheel names a finished wheel."
        )
    try:
        needs = metadata.requires("plymill") or []
    except metadata.PackageNotFoundError:
        needs = []
    libc = platform.libc_ver()
    return Wheel(
        _PACKAGE,
        __version__,
        f"cp{sys.version_info.major}{sys.version_info.minor}",
        (re.sub(r"\W", "_", sysconfig.get_platform()),),
        _own(needs),
        _glibc(" ".join(libc)),
    )


def require_fit(wheel: Wheel, look: ClusterLook, address: str) -> None:
    """See that a wheel runs on all nodes of a cluster.

    Raises:
        ClusterError: one of them is of another kind.
    """
    for node in look.nodes:
        fault = misfit(wheel, node)
        if fault:
            raise ClusterError(
                f"Node {node.node[:8]} of the cluster at {address} runs {node.platform}, but "
                f"{fault}; {_BUILD_HINT}."
            )
    ray = next((text for text in look.missing if _name(text) == "ray"), None)
    if ray is not None:
        raise ClusterError(
            f"The cluster at {address} runs Ray {look.ray}, expected {ray}; a run cannot bring its "
            "own."
        )


def misfit(wheel: Wheel, node: NodeLook) -> str:
    """Why a wheel does not run on a node; empty if it does."""
    python = "".join(node.python.split(".")[:2])
    if node.implementation != "cpython" or wheel.python != f"cp{python}":
        return f"this plymill is for Python {_dotted(wheel.python)}"
    faults = [_platform_misfit(name, wheel, node) for name in wheel.platforms]
    return "" if "" in faults else faults[0]


def _platform_misfit(name: str, wheel: Wheel, node: NodeLook) -> str:
    if name.startswith("macosx_"):
        fits = node.system == "darwin" and name.endswith(("universal2", node.machine))
        return "" if fits else f"this plymill is for {name}"
    old = next((old for old in _OLD_NAMES if name.startswith(f"{old}_")), None)
    if old is not None:
        (major, minor), rest = _OLD_NAMES[old], name.removeprefix(old)
        name = f"manylinux_{major}_{minor}{rest}"
    match = _LINUX.fullmatch(name)
    if match is None or node.system != "linux" or match["machine"] != node.machine:
        return f"this plymill is for {name}"
    needed = (int(match["major"]), int(match["minor"])) if match["major"] else wheel.libc
    there = _glibc(node.libc)
    if needed is not None and (there is None or there < needed):
        found = f"has {node.libc}" if node.libc else "has another C library"
        return f"this plymill needs glibc {needed[0]}.{needed[1]} and the node {found}"
    return ""


def to_install(wheel: Wheel, look: ClusterLook) -> list[str]:
    """The packages that pip has to install on the nodes."""
    return [text for text in look.missing if text in wheel.requires and _name(text) != "ray"]


def _own(requirements: Iterable[str]) -> tuple[str, ...]:
    """What plymill itself needs, not its extras."""
    return tuple(
        sorted(r for r in requirements if "extra ==" not in r.replace("extra==", "extra =="))
    )


def _name(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9_.-]", requirement, maxsplit=1)[0].lower()


def _glibc(text: str) -> tuple[int, int] | None:
    match = re.search(r"glibc (\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else None


def _dotted(tag: str) -> str:
    digits = tag.removeprefix("cp")
    return f"{digits[:1]}.{digits[1:]}" if digits != tag else tag
