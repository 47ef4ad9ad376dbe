"""When progress is written: neither too often, nor too late, whatever the clock does."""

from plymill.cluster import MemoryFiles, Progress, RunStore
from plymill.cluster.recorder import Recorder


def test_progress_goes_on_being_written_and_shown_when_the_clock_was_set_back() -> None:
    now = 10_000.0
    store = RunStore(MemoryFiles(), "run-1")
    shown: list[float] = []
    recorder = Recorder(store, lambda: now, 5.0, lambda progress: shown.append(progress.updated))

    def report() -> float | None:
        """When the progress was written last, after a report now."""
        recorder.report(lambda: Progress(run_id="run-1", state="solving", started=0.0, updated=now))
        written = store.read_json("progress.json")
        return None if written is None else float(written["updated"])

    assert report() == 10_000.0
    now = 10_001.0
    assert report() == 10_000.0, "five seconds have not passed"
    now = 2_800.0  # two hours back
    assert report() == 2_800.0
    now = 2_804.0
    assert report() == 2_800.0
    now = 2_805.0
    assert report() == 2_805.0
    assert shown == [10_000.0, 10_001.0, 2_800.0, 2_804.0, 2_805.0]
