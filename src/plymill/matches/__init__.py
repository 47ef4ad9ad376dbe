"""Matches: the referee, records, grids, openings, statistics, comparison and charts. No Ray."""

from plymill.matches.aggregates import CellResult, results_csv, results_json, summarize
from plymill.matches.compare import (
    Agreement,
    CellComparison,
    GridComparison,
    compare_cell,
    compare_grids,
    grid_of_results,
)
from plymill.matches.costs import cell_seconds, match_seconds
from plymill.matches.elo import EloEstimate, elo_from_score, estimate_elo, score_from_elo
from plymill.matches.equal_strength import EqualStrength, equal_strength
from plymill.matches.errors import MatchError, MatchRecordError
from plymill.matches.first_moves import (
    FirstMoveComparison,
    compare_first_moves,
    count_first_moves,
)
from plymill.matches.grids import Cell, Cut, Schedule, Stretch, grid_cells, parse_iterations
from plymill.matches.intervals import CONFIDENCE, Interval, wilson, wilson_bounds
from plymill.matches.moves import after, first_move_text, moves_text, plies
from plymill.matches.openings import Openings, random_openings, read_openings
from plymill.matches.published import (
    Grid,
    Sample,
    of_game,
    read_first_moves,
    read_published,
)
from plymill.matches.ratings import CrossTable, Rating, cross_table, rate
from plymill.matches.records import (
    NO_VALUE,
    Matches,
    MatchRecord,
    Status,
    value_code,
)
from plymill.matches.referee import PlayedMatch, play_match
from plymill.matches.rounds import CellScore, cell_scores, check_width, next_round
from plymill.matches.sprt import MISSING, VOID, Decision, Sprt, Verdict, pair_results

__all__ = [
    "CONFIDENCE",
    "MISSING",
    "NO_VALUE",
    "VOID",
    "Agreement",
    "Cell",
    "CellComparison",
    "CellResult",
    "CellScore",
    "CrossTable",
    "Cut",
    "Decision",
    "EloEstimate",
    "EqualStrength",
    "FirstMoveComparison",
    "Grid",
    "GridComparison",
    "Interval",
    "MatchError",
    "MatchRecord",
    "MatchRecordError",
    "Matches",
    "Openings",
    "PlayedMatch",
    "Rating",
    "Sample",
    "Schedule",
    "Sprt",
    "Status",
    "Stretch",
    "Verdict",
    "after",
    "cell_scores",
    "cell_seconds",
    "check_width",
    "compare_cell",
    "compare_first_moves",
    "compare_grids",
    "count_first_moves",
    "cross_table",
    "elo_from_score",
    "equal_strength",
    "estimate_elo",
    "first_move_text",
    "grid_cells",
    "grid_of_results",
    "match_seconds",
    "moves_text",
    "next_round",
    "of_game",
    "pair_results",
    "parse_iterations",
    "play_match",
    "plies",
    "random_openings",
    "rate",
    "read_first_moves",
    "read_openings",
    "read_published",
    "results_csv",
    "results_json",
    "score_from_elo",
    "summarize",
    "value_code",
    "wilson",
    "wilson_bounds",
]
