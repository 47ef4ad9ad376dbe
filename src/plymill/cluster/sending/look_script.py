"""Tells what the nodes of a cluster run, as one line of JSON behind a mark.

This file is sent to the cluster alone, as a job of its own, before plymill is: it may use nothing
but Python and Ray. Its arguments are the requirements of plymill that every node is to be asked
for.
"""

import json
import sys
from typing import Any

MARK = "plymill-look "
_NODE_SECONDS = 60.0


def describe(requirements: "list[str]") -> "dict[str, Any]":
    """What this node runs."""
    import os
    import platform
    import socket

    return {
        "host": socket.gethostname(),
        "pid": os.getpid(),
        "executable": sys.executable,
        "python": ".".join(str(part) for part in sys.version_info[:3]),
        "implementation": sys.implementation.name,
        "system": platform.system().lower(),
        "machine": platform.machine().lower(),
        "libc": " ".join(platform.libc_ver()).strip(),
        "missing": [text for text in requirements if not is_there(text)],
    }


def is_there(requirement: str) -> bool:
    """Whether a package is installed in a version that will do."""
    from importlib import metadata

    from packaging.requirements import Requirement

    wanted = Requirement(requirement)
    if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
        return True
    try:
        version = metadata.version(wanted.name)
    except metadata.PackageNotFoundError:
        return False
    return wanted.specifier.contains(version, prereleases=True)


def main(requirements: "list[str]") -> None:
    """Ask every node."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    ray.init(address="auto", log_to_driver=False)
    ask = ray.remote(num_cpus=0, max_retries=2)(describe)
    nodes: Any = ray.nodes()  # type: ignore[no-untyped-call]
    found = []
    for node in nodes:
        if node["Alive"]:
            place = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            call: Any = ask.options(scheduling_strategy=place)
            found.append((node, call.remote(requirements)))
    looks = []
    for node, answer in found:
        try:
            fields: dict[str, Any] = ray.get(answer, timeout=_NODE_SECONDS)
        except Exception as error:
            fields = {"error": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
        resources = node["Resources"]
        looks.append(
            {
                "node": node["NodeID"],
                "head": "node:__internal_head__" in resources,
                "cpus": resources.get("CPU", 0.0),
                "memory": resources.get("memory", 0.0),
                "labels": node.get("Labels") or {},
                **fields,
            }
        )
    print(MARK + json.dumps({"ray": ray.__version__, "nodes": looks}))


if __name__ == "__main__":
    main(sys.argv[1:])
