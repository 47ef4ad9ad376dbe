"""Who drives a run: the lease as a machine without clocks, and on real files."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plymill.cluster import ArrowFiles, Files, MemoryFiles, RunStore
from plymill.cluster.driving import Driving, LeaseFiles, driving, take
from plymill.cluster.errors import RunTakenError
from plymill.cluster.storage import leases
from plymill.cluster.storage.claims import create_by_claims
from plymill.cluster.storage.leases import Contender, Holder, Lease, Step, is_dead, this_process

EXPIRY = 30.0


@dataclass
class Driver:
    """A driver that acts when it is told to; its clock is its own."""

    machine: Contender
    clock: float
    slept: float = 0.0  # since it last acted, in true time
    gone: bool = False
    working: bool = False

    def act(self, files: LeaseFiles) -> None:
        """Look once, and do what follows, as the driver's thread does."""
        latest = files.latest()
        if self.machine.held is None and not self.working:
            step = self.machine.look(latest, self.clock)
            if step is Step.LEAVE:
                self.gone = True
            elif step is Step.CREATE:
                lease = self.machine.next_lease(latest)
                self.machine.created(lease, mine=files.create(lease))
                self.working = self.machine.held is not None
        elif self.machine.lost(latest):
            self.working, self.gone = False, True
        else:
            files.write(self.machine.beating())


ACTIONS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["act", "act", "act", "die", "jump", "release"])),
    max_size=60,
)


def drivers_of(clocks: list[float]) -> list[Driver]:
    return [
        Driver(Contender(Holder(name=f"d{i}"), expiry=EXPIRY), clock)
        for i, clock in enumerate(clocks)
    ]


@settings(max_examples=300)
@given(
    actions=ACTIONS,
    steps=st.lists(st.floats(0.0, 4.0), min_size=60, max_size=60),
    clocks=st.lists(st.floats(-1e6, 1e6), min_size=4, max_size=4),
    rates=st.lists(st.floats(0.8, 1.25), min_size=4, max_size=4),
)
def test_never_two_at_a_time_while_everybody_is_awake(
    actions: list[tuple[int, str]], steps: list[float], clocks: list[float], rates: list[float]
) -> None:
    """However actions interleave, whatever the clocks show: at most one driver works.

    Every living driver acts at least every ten seconds; clocks start anywhere and run at most a
    quarter too fast or too slow. (They are monotonic: what jumps is the other kind of clock.)
    """
    files = LeaseFiles(MemoryFiles())
    drivers = drivers_of(clocks)
    for (who, what), step in zip(actions, steps, strict=False):
        for driver, rate in zip(drivers, rates, strict=True):
            driver.clock += step * rate
            driver.slept += step
        for driver in drivers:
            if not driver.gone and (driver.slept > 6.0 or driver is drivers[who]):
                driver.slept = 0.0
                if driver is drivers[who] and what == "die":
                    driver.gone, driver.working = True, False
                else:
                    driver.act(files)
        assert sum(driver.working for driver in drivers) <= 1


@settings(max_examples=200)
@given(order=st.permutations(range(3)), pause=st.floats(EXPIRY * 1.5, 1e5))
def test_a_driver_that_sleeps_too_long_finds_out_before_it_writes(
    order: list[int], pause: float
) -> None:
    files = LeaseFiles(MemoryFiles())
    drivers = drivers_of([0.0, 1e5, -1e5])
    sleeper, *others = (drivers[i] for i in order)
    sleeper.act(files)
    assert sleeper.working
    for _ in range(2):
        for other in others:
            other.act(files)
            other.clock += pause
    assert sum(other.working for other in others) == 1
    before = files.latest()
    sleeper.act(files)
    assert not sleeper.working
    assert files.latest() == before, "it wrote nothing"


def test_a_dead_drivers_lease_is_taken_over_after_its_time() -> None:
    files = LeaseFiles(MemoryFiles())
    dead, heir = drivers_of([0.0, 500.0])
    dead.act(files)
    heir.act(files)
    heir.clock += EXPIRY - 0.1
    heir.act(files)
    assert not heir.working
    assert not heir.gone
    heir.clock += 0.2
    heir.act(files)
    assert heir.working
    latest = files.latest()
    assert latest is not None
    assert latest.number == 2


def test_a_living_driver_is_left_alone_at_its_next_beat() -> None:
    files = LeaseFiles(MemoryFiles())
    first, second = drivers_of([0.0, 0.0])
    first.act(files)
    second.act(files)
    assert not second.gone
    first.act(files)
    second.act(files)
    assert second.gone


def test_a_released_lease_is_free_at_once(tmp_path: Path) -> None:
    store = RunStore.open(str(tmp_path), "book-1")
    with driving(store) as held:
        assert not held.lost
    started = time.monotonic()
    with driving(store):
        pass
    assert time.monotonic() - started < 1
    assert len(list((tmp_path / "book-1" / "lease").iterdir())) == 2


def test_a_second_driver_says_so_and_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "BEAT", 0.05)
    store = RunStore.open(str(tmp_path), "book-1")
    told: list[str] = []
    with driving(store):
        with pytest.raises(RunTakenError) as left, driving(store, tell=told.append):
            pass
        assert f"process {os.getpid()} on" in str(left.value)
        assert "Run book-1 is driven by another driver already" in str(left.value)
        assert "to see whether it is alive" in told[0]


def test_a_driver_whose_lease_is_taken_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "BEAT", 0.02)
    store = RunStore.open(str(tmp_path), "book-1")
    lost = threading.Event()
    with driving(store, on_lost=lost.set) as held:
        LeaseFiles(store.files).create(Lease(number=2, holder=Holder(name="thief")))
        assert lost.wait(5)
        assert held.lost
    latest = LeaseFiles(store.files).latest()
    assert latest == Lease(number=2, holder=Holder(name="thief")), "the thief's is not touched"


def test_a_store_that_is_away_does_not_stop_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    from plymill.cluster import StoreError

    files = LeaseFiles(MemoryFiles())
    contender = Contender(this_process("me"))
    take(files, contender, "book-1")
    calls: list[int] = []

    def away() -> Lease | None:
        calls.append(1)
        if len(calls) < 4:
            raise StoreError("gone for a while")
        return contender.held

    monkeypatch.setattr(files, "latest", away)
    held = Driving(files, contender, lambda: None, beat=0.01)
    while len(calls) < 6:
        time.sleep(0.01)
    held.release()
    assert not held.lost


SOUND = {"holder": {"name": "x", "host": "h", "pid": 7, "birth": "a:b:c"}, "beat": 3}


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"holder": 5, "beat": 0, "released": false}',
        json.dumps(SOUND),
        json.dumps(SOUND | {"released": 0}),
        json.dumps(SOUND | {"released": False, "beat": "3"}),
        json.dumps(SOUND | {"released": False, "beat": float("inf")}),
        json.dumps(SOUND | {"released": False, "holder": {"name": "x", "birth": 5}}),
        json.dumps(SOUND | {"released": False, "holder": {"name": "x", "pid": True}}),
        json.dumps(SOUND | {"released": False, "holder": {"name": "x", "pid": [1]}}),
        json.dumps(SOUND | {"released": False, "holder": {"name": ["x"]}}),
        json.dumps(SOUND | {"released": False, "holder": {"name": "x", "more": 1}}),
    ],
)
def test_an_illegible_lease_is_held_by_nobody_known_and_expires_like_any_other(text: str) -> None:
    files = MemoryFiles()
    files.write("lease/000001.json", text.encode())
    latest = LeaseFiles(files).latest()
    assert latest == Lease(1, Holder(name="?"))
    assert not is_dead(latest.holder)
    clock = iter(range(0, 10_000, 20))
    contender = Contender(Holder(name="me"), expiry=EXPIRY)
    take(
        LeaseFiles(files),
        contender,
        "book-1",
        clock=lambda: float(next(clock)),
        sleep=lambda _: None,
    )
    assert contender.held is not None
    assert contender.held.number == 2


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_who_cannot_beat_for_a_fault_of_its_own_gives_the_lease_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another will take it: a driver that went on would be the second one."""

    def faulty() -> Lease | None:
        raise LookupError

    files = LeaseFiles(MemoryFiles())
    monkeypatch.setattr(files, "latest", faulty)
    contender = Contender(Holder(name="me"), expiry=EXPIRY)
    contender.created(contender.next_lease(None), mine=True)
    lost = threading.Event()
    held = Driving(files, contender, lost.set, beat=0.01)
    assert lost.wait(10)
    assert held.lost
    held.release()


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_process_of_this_machine_that_is_gone_is_known_to_be_dead() -> None:
    code = (
        "from dataclasses import asdict; from plymill.cluster.storage.leases import this_process; "
        "import json; print(json.dumps(asdict(this_process('x'))))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    gone = Holder(**json.loads(done.stdout))
    assert is_dead(gone)
    alive = this_process("me")
    assert not is_dead(alive)
    assert not is_dead(replace(gone, birth="other-machine:pid:[1]:5")), "of another machine"
    assert not is_dead(replace(gone, birth=""))
    assert is_dead(replace(alive, birth=f"{alive.birth}9")), "its number is another's now"


# --- one of many makes a file ---------------------------------------------------------------------


def all_at_once(create: Callable[[int], bool], count: int = 8) -> list[bool]:
    barrier = threading.Barrier(count)
    made: list[bool] = [False] * count

    def attempt(index: int) -> None:
        barrier.wait()
        made[index] = create(index)

    threads = [threading.Thread(target=attempt, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return made


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_one_of_many_makes_the_file(kind: str, tmp_path: Path) -> None:
    files: Files = MemoryFiles() if kind == "memory" else ArrowFiles(str(tmp_path))
    for turn in range(20):
        path = f"lease/{turn}.json"
        made = all_at_once(lambda index, path=path: files.create(path, b"%d" % index))  # type: ignore[misc]
        assert made.count(True) == 1
        assert files.read(path) == b"%d" % made.index(True)


def test_one_of_many_makes_the_file_by_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plymill.cluster.storage.claims._PAUSE", 0.001)
    files = MemoryFiles()
    for turn in range(30):
        path = f"lease/{turn}.json"
        made = all_at_once(
            lambda index, path=path: create_by_claims(files, path, b"%d" % index)  # type: ignore[misc]
        )
        assert made.count(True) == 1
        assert files.read(path) == b"%d" % made.index(True)
        assert files.list(f"{path}.claims") == []


@pytest.mark.parametrize("name", ["a", "z"])
def test_a_dead_mans_claim_is_removed(name: str) -> None:
    files = MemoryFiles()
    files.write("x.claims/m", b"")
    clock = iter(range(0, 1000, 5))
    made = [
        create_by_claims(
            files, "x", b"", name=name, clock=lambda: float(next(clock)), sleep=lambda _: None
        )
        for _ in range(2)
    ]
    assert True in made
    assert files.list("x.claims") == []


def test_in_a_bucket(bucket: str) -> None:
    files = ArrowFiles(f"{bucket}/leases")
    made = all_at_once(lambda index: files.create("000001.json", b"%d" % index), count=4)
    assert made.count(True) == 1
    assert files.read("000001.json") == b"%d" % made.index(True)
    assert files.list("000001.json.claims") == []
