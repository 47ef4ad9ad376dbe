"""The driver of a run, as a process of its own.

``python -m chaos.driver RUN STORE ADDRESS CONTROL`` does what ``plymill run resume`` does, but its
job is a sabotaged one, and it writes its progress more often.
"""

import sys
from pathlib import Path

from chaos.sabotage import Sabotaged
from plymill.cli.failures import exit_code_of
from plymill.cluster import Job, JobSpec, RunOptions
from plymill.workers import kinds, resume_run, run

_OPTIONS = RunOptions(table_mb=16, report_every=0.5)


def main(run_id: str, url: str, address: str, control: str) -> int:
    """Go on with the run; the exit code is that of ``plymill``."""

    def sabotaged(spec: JobSpec, options: RunOptions) -> Job:
        return Sabotaged(kinds.make_job(spec, options), Path(control))

    vars(run)["make_job"] = sabotaged
    return exit_code_of(
        lambda: 0 if resume_run(run_id, url, address=address, options=_OPTIONS).complete else 1
    )


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
