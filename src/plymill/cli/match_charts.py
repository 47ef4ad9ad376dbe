"""``plymill match chart``: the charts of a run, of what it has played so far."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from plymill.cli.options import DEFAULT_STORE, Force, Json, RunId, Store


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
    from plymill.cli.output import note, say, say_json
    from plymill.cli.patience import patience
    from plymill.cli.sources import require_free, require_store
    from plymill.cli.words import plural
    from plymill.matches.charts import page, png, svg
    from plymill.workers.match_charts import figures_of
    from plymill.workers.match_look import open_run

    require_store(store, there=True)
    found = open_run(store, run)
    if len(found.units) < found.planned:
        note(f"plymill: {len(found.units):,} of {plural(found.planned, 'unit')} are finished.")
    folder = Path(run) if to is None else to
    folder.mkdir(parents=True, exist_ok=True)
    with patience(f"Drawing the charts of {run}"):
        figures = figures_of(found.spec, found.attempts(moves=True).matches)
        files: dict[Path, bytes] = {}
        for name, figure in figures.items():
            files[folder / f"{name}.svg"] = svg(figure.chart).encode()
            files[folder / f"{name}.png"] = png(figure.chart)
        files[folder / "charts.html"] = page(found.spec.title, list(figures.values())).encode()
    for path in files:
        require_free(path, force=force)
    for path, data in files.items():
        path.write_bytes(data)
    if json:
        say_json({"run_id": run, "files": [str(path) for path in files]})
    else:
        say(f"{plural(len(files), 'file')} in {folder}")
    return 0
