"""Who does the work: the Ray actor, and a plain class for each kind of job."""

from plymill.workers.book import BookRun
from plymill.workers.book_spec import BookJob
from plymill.workers.kinds import make_job, spec_from_fields, spec_from_toml
from plymill.workers.match_spec import DuelJob, GridJob, MatchJob, PoolJob
from plymill.workers.run import resume_run, run_job, with_reference

__all__ = [
    "BookJob",
    "BookRun",
    "DuelJob",
    "GridJob",
    "MatchJob",
    "PoolJob",
    "make_job",
    "resume_run",
    "run_job",
    "spec_from_fields",
    "spec_from_toml",
    "with_reference",
]
