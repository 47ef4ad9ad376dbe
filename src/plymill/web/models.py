"""What the JSON API tells, and the pages show: one model each."""

from typing import Any, Literal

from pydantic import BaseModel, Field


class RunSummary(BaseModel):
    """A run in a line. Times are seconds since 1970, spans are seconds."""

    run_id: str
    kind: str
    title: str
    owner: str | None = Field(description="Who submitted it, if that is known.")
    state: str = Field(
        description="planning, solving, finishing, done, failed, interrupted, cancelled, damaged "
        "or unknown."
    )
    stage: str
    message: str
    silent: float | None = Field(
        description="Seconds without news of a run that should be under way; null if all is well."
    )
    started: float | None = Field(description="When its last session began.")
    updated: float | None
    item: str = Field(description="What an item is called, in the plural.")
    items_done: int
    items_total: int
    units_done: int
    units_total: int
    units_in_flight: int
    units_quarantined: int
    rounds: int
    share: float | None = Field(description="How much of the work is done, 0 to 1.")
    rate: float = Field(description="Items a second over the last minute.")
    eta: tuple[float, float] | None = Field(description="Seconds left, as a range.")
    workers: int

    @property
    def running(self) -> bool:
        """Whether it is under way, and is heard of."""
        return self.state in ("planning", "solving", "finishing") and self.silent is None


class WorkerView(BaseModel):
    """A worker and what it has done in this session."""

    name: str
    host: str
    pid: int
    slots: int
    in_flight: list[str]
    units: int
    items: int
    seconds: float = Field(description="Seconds of its threads at work.")
    rate: float = Field(description="Items a second and thread.")
    pace: float | None = Field(description="Its rate, as a share of the median of all workers.")
    lags: bool = Field(description="Whether it is clearly slower than the others.")
    lost: int = Field(description="How often workers were lost on its machine.")


class Artifact(BaseModel):
    """A file that a run made."""

    name: str
    bytes: int
    sha256: str
    url: str


class RunDetail(RunSummary):
    """All about a run but its units and events."""

    spec: dict[str, Any]
    summary: list[str] = Field(description="What came out, in sentences.")
    worker_figures: list[WorkerView]
    artifacts: list[Artifact]
    history: list[tuple[float, int]] = Field(description="Samples of time and items done.")


class UnitView(BaseModel):
    """A unit of a run."""

    name: str
    index: int
    items: int
    cost: float = Field(description="Estimated seconds of one core.")
    state: Literal["waiting", "in flight", "done", "failed"]
    audited: Literal["no", "chosen", "agrees"] = Field(
        description="Whether a second worker solves it again, and has."
    )


class UnitPage(BaseModel):
    """Some of the units of a run."""

    total: int
    units: list[UnitView]


class Event(BaseModel):
    """Something that happened in a run."""

    time: float | None = Field(description="null where the file names none.")
    event: str
    details: dict[str, Any]


class EventPage(BaseModel):
    """Some of the events of a run, the last ones first."""

    total: int
    events: list[Event]


class Value(BaseModel):
    """The value of a position or a move."""

    score: int | None = Field(description="Side to move's view; null in books without distances.")
    winner: int | None = Field(description="1 or 2; null for a draw.")
    plies: int | None = Field(description="Plies to the end, if somebody wins.")
    words: str


class PositionAnswer(BaseModel):
    """What is known of a position."""

    moves: str
    ply: int
    to_move: int | None = Field(description="1 or 2; null once the game is over.")
    board: list[list[int]] = Field(description="Rows from the top: 0 empty, 1 and 2 the players.")
    value: Value | None = Field(description="null where nothing is known; then see reason.")
    columns: dict[str, Value | None] = Field(description="Each move's value; null: not to be had.")
    best: list[int]
    source: Literal["book", "solver", "rules", "none"]
    reason: str


class PositionFault(BaseModel):
    """A move string that is none."""

    moves: str = Field(description="As it was asked, with what cannot be shown escaped.")
    error: str


class PositionsAsked(BaseModel):
    """Many positions in one request."""

    positions: list[str] = Field(max_length=1000, description="Move strings, columns 1 to 7.")
    solve: bool = Field(
        default=False,
        description="Solve what the books cannot tell; at most 50 positions then.",
    )


class PositionsAnswered(BaseModel):
    """The answers, in the order of the questions."""

    answers: list[PositionAnswer | PositionFault]


class BookFile(BaseModel):
    """A book of a run."""

    name: str
    ply: int
    positions: int
    distances: bool
    opening: str
    bytes: int
    sha256: str


class BookEntry(BaseModel):
    """The books of a run, which answer together."""

    run_id: str
    title: str
    opening: str
    books: list[BookFile]


class CellView(BaseModel):
    """What was played so far between two players."""

    cell: int
    first: str
    second: str
    first_iterations: int | None
    second_iterations: int | None
    matches: int
    failed: int
    wins: int
    draws: int
    losses: int
    mean_goal: float | None = Field(description="Of the first player, 0 to 100.")
    low: float = Field(description="Lower end of the 95% interval of the mean goal.")
    high: float
    mean_plies: float | None


class CellPage(BaseModel):
    """All cells of a run of matches."""

    game: str
    players: tuple[str, str]
    units_read: int
    units_planned: int
    matches: int
    cells: list[CellView]


class MatchLine(BaseModel):
    """A match in a line."""

    id: str
    cell: int
    match: int
    result: Literal["first", "draw", "second"] | None
    goals: tuple[int, int] | None
    plies: int
    status: str
    moves: str


class MatchPage(BaseModel):
    """Some of the matches of a cell."""

    total: int
    matches: list[MatchLine]


class MoveView(BaseModel):
    """A move, and what its player expected of it."""

    player: str
    side: int
    move: str
    value: float | None = Field(description="Expected mean goal of the mover, 0 to 1.")


class PlyView(BaseModel):
    """A ply of a match: one move, or one of each player."""

    ply: int
    opening: bool
    moves: list[MoveView]


class MatchDetail(MatchLine):
    """A match move by move."""

    game: str
    players: tuple[str, str]
    first: str
    second: str
    plies_played: list[PlyView]


class Fault(BaseModel):
    """What was wrong, in a sentence."""

    error: str
