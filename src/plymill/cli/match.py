"""``plymill match``: playing matches, and looking at what came out."""

from cyclopts import App

from plymill.cli.checks import ARGUMENTS, PARAMETERS
from plymill.cli.match_charts import chart
from plymill.cli.match_compare import compare
from plymill.cli.match_jobs import duel, grid, pool
from plymill.cli.match_replay import replay

app = App(
    name="match",
    group_arguments=ARGUMENTS,
    group_parameters=PARAMETERS,
    help="Play grids, duels and pools of matches, and look at what came out.",
    help_epilogue="Example: plymill match grid --game tictactoe --first 10..640 --second 10..640",
)

for command, example in (
    (
        grid,
        "plymill match grid --game connect4-8x6 --first 10..5120 --second 10..5120 --samples 100",
    ),
    (
        duel,
        "plymill match duel --game connect4 --player-a uct:1000,c=1.0 --player-b uct:1000",
    ),
    (
        pool,
        "plymill match pool --game connect4 --players uct:100 --players uct:200 --players perfect",
    ),
    (replay, "plymill match replay grid-1f0c2a3b4d5e 17:3"),
    (compare, "plymill match compare grid-1f0c2a3b4d5e --published published_2017.csv"),
    (chart, "plymill match chart grid-1f0c2a3b4d5e --to charts"),
):
    app.command(command, help_epilogue=f"Example: {example}")
