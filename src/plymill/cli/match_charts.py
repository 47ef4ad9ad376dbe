"""``plymill match chart``: the charts of a run, of what it has played so far."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from plymill.cli.options import DEFAULT_STORE, Force, Json, RunId, Store

if TYPE_CHECKING:
    from plymill.workers.match_look import PlayedRun

PAGE = "charts.html"


def chart(
    run: RunId,
    /,
    *,
    to: Annotated[
        Path | None,
        Parameter(help="The folder to put the files in; named like the run by default."),
    ] = None,
    force: Force = False,
    store: Store = DEFAULT_STORE,
    json: Json = False,
) -> int:
    """Draw the charts of a run as SVG, PNG and one interactive page.

    A finished run has them among its artefacts; this draws them at any time, of what is there.
    """
    from plymill.cli.output import say, say_json
    from plymill.cli.patience import patience
    from plymill.cli.sources import require_folder, require_free, require_store
    from plymill.cli.words import plural
    from plymill.cluster.storage.leftovers import write_whole
    from plymill.workers.match_look import open_run

    require_store(store, there=True)
    folder = Path(run) if to is None else to
    require_folder(folder)
    found = open_run(store, run)
    if not force and folder.is_dir():  # the one file that is always made: said before drawing
        require_free(folder / PAGE, force=False)
    _note_what_is_missing(found)
    with patience(f"Drawing the charts of {run}"):
        files = _drawn(found, folder, force=force)
    folder.mkdir(parents=True, exist_ok=True)
    for path, data in files.items():
        write_whole(path, data)
    if json:
        say_json({"run_id": run, "files": [str(path) for path in files]})
    else:
        say(f"{plural(len(files), 'file')} in {folder}")
    return 0


def _note_what_is_missing(run: "PlayedRun") -> None:
    from plymill.cli.output import note
    from plymill.cli.words import plural

    if len(run.units) < run.planned:
        note(f"plymill: {len(run.units):,} of {plural(run.planned, 'unit')} are finished.")


def _drawn(run: "PlayedRun", folder: Path, *, force: bool) -> dict[Path, bytes]:
    """The files, none of which is there already."""
    from plymill.cli.sources import require_free
    from plymill.matches.charts import page, png, svg
    from plymill.workers.match_charts import figures_of

    figures = figures_of(run.spec, run.attempts(moves=True).matches)
    if folder.is_dir():
        for name in figures:
            for kind in (".svg", ".png"):
                require_free(folder / f"{name}{kind}", force=force)
    drawn: dict[Path, bytes] = {}
    for name, figure in figures.items():
        drawn[folder / f"{name}.svg"] = svg(figure.chart).encode()
        drawn[folder / f"{name}.png"] = png(figure.chart)
    return drawn | {folder / PAGE: page(run.spec.title, list(figures.values())).encode()}
