"""A job server that keeps what it is sent, and nodes that are what a test says."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from plymill.cluster.sending import look_script
from plymill.cluster.sending.look import PREFIX
from plymill.cluster.sending.submissions import (
    KIND_KEY,
    OWNER_KEY,
    RUN_KEY,
    STORE_KEY,
    WEIGHT_KEY,
    Order,
    Submission,
)

PYTHON = "/usr/bin/python3.11"


def node(name: str = "aaaa1111", **fields: Any) -> dict[str, Any]:
    """What a node tells of itself; by default a head with four processors."""
    return {
        "node": name,
        "head": True,
        "cpus": 4.0,
        "memory": 8e9,
        "labels": {"ray.io/node-id": name},
        "host": "head",
        "pid": 17,
        "executable": PYTHON,
        "python": "3.11.7",
        "implementation": "cpython",
        "system": "linux",
        "machine": "x86_64",
        "libc": "glibc 2.36",
        "missing": [],
        **fields,
    }


@dataclass
class FakeJobs:
    """See `plymill.cluster.sending.submissions.Jobs`."""

    nodes: list[dict[str, Any]] = field(default_factory=lambda: [node()])
    address: str = "http://head:8265"
    version: str = "2.60.0"
    orders: list[Order] = field(default_factory=list)
    jobs: dict[str, Submission] = field(default_factory=dict)
    unpacked: list[str] = field(default_factory=list)
    order_file: dict[str, Any] = field(default_factory=dict)
    look_output: str | None = None
    looks: int = 0

    def submissions(self) -> list[Submission]:
        return list(self.jobs.values())

    def submit(self, order: Order) -> bool:
        if order.name.startswith(PREFIX):
            self.looks += 1
            return True
        if order.name in self.jobs:
            return False
        self.orders.append(order)
        self.unpacked = sorted(
            str(path.relative_to(module.parent))
            for module in order.modules
            for path in module.rglob("*")
        )
        if order.folder is not None:
            self.order_file = json.loads((order.folder / "job.json").read_text())
        meta = order.metadata
        self.jobs[order.name] = Submission(
            name=order.name,
            run_id=meta[RUN_KEY],
            kind=meta[KIND_KEY],
            owner=meta[OWNER_KEY],
            store=meta[STORE_KEY],
            weight=float(meta[WEIGHT_KEY]),
            status="RUNNING",
            started=1000.0 + len(self.jobs),
        )
        return True

    def end(self, name: str, status: str, message: str = "") -> None:
        self.jobs[name] = replace(self.jobs[name], status=status, message=message, ended=2000.0)

    def status(self, name: str) -> str:
        if name.startswith(PREFIX):
            return "SUCCEEDED"
        return self.jobs[name].status if name in self.jobs else ""

    def stop(self, name: str) -> bool:
        if not self.jobs[name].active:
            return False
        self.end(name, "STOPPED")
        return True

    def delete(self, name: str) -> None:
        self.jobs.pop(name, None)

    def logs(self, name: str) -> str:
        if not name.startswith(PREFIX):
            return f"log of {name}\n"
        if self.look_output is not None:
            return self.look_output
        return "noise\n" + look_script.MARK + json.dumps({"ray": "2.60.0", "nodes": self.nodes})

    def follow(self, name: str) -> Iterator[str]:
        yield from (f"log of {name}\n", "more\n")
