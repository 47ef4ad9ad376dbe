"""The dashboard asks for metrics that exist, and shows all of them."""

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

from plymill.cluster.metrics import METRICS, Kind

PATH = Path(__file__).parents[2] / "deploy" / "grafana" / "plymill.json"
DASHBOARD: dict[str, Any] = json.loads(PATH.read_text())
PANELS: list[dict[str, Any]] = DASHBOARD["panels"]
EXPRESSIONS = [target["expr"] for panel in PANELS for target in panel["targets"]]
#: The metric that each exported name is of; a histogram has three names.
NAMES = {
    metric.exported + ending: metric
    for metric in METRICS
    for ending in (("_bucket", "_sum", "_count") if metric.kind is Kind.HISTOGRAM else ("",))
}


def test_every_metric_asked_for_exists_and_every_one_is_shown() -> None:
    asked = {name for expr in EXPRESSIONS for name in re.findall(r"\bray_\w+", expr)}
    assert asked - set(NAMES) == set()
    assert {NAMES[name] for name in asked} == set(METRICS)


def test_labels_asked_for_are_tags_of_the_metric() -> None:
    for expr in EXPRESSIONS:
        allowed = {"run", "le"}
        for name in re.findall(r"\bray_\w+", expr):
            allowed |= set(NAMES[name].tags)
        grouped = {x for by in re.findall(r"by \(([^)]*)\)", expr) for x in by.split(", ")}
        matched = set(re.findall(r"(\w+)(?:=~|=)\"", expr))
        assert grouped | matched <= allowed, expr


def test_counters_are_asked_for_as_rates_or_sums_and_gauges_as_they_are() -> None:
    for expr in EXPRESSIONS:
        for name in re.findall(r"\bray_\w+", expr):
            rated = re.search(rf"(rate|increase)\({name}\{{", expr) is not None
            assert not (NAMES[name].kind is Kind.GAUGE and rated), expr
            assert NAMES[name].kind is not Kind.HISTOGRAM or rated, expr


def test_legends_tell_what_the_query_groups_by() -> None:
    for panel in PANELS:
        for target in panel["targets"]:
            for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                assert re.search(rf"by \([^)]*\b{label}\b", target["expr"]), target["expr"]


def test_the_dashboard_is_one_that_grafana_takes() -> None:
    assert DASHBOARD["uid"] == "plymill"
    assert isinstance(DASHBOARD["schemaVersion"], int)
    assert "id" not in DASHBOARD  # Grafana gives it
    variables = {variable["name"]: variable for variable in DASHBOARD["templating"]["list"]}
    assert set(variables) == {"datasource", "run"}
    (metric,) = re.findall(r"ray_\w+", variables["run"]["definition"])
    assert metric in NAMES
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    for panel in PANELS:
        assert panel["type"] in {"timeseries", "stat"}
        assert panel["title"]
        assert panel["description"]
        assert panel["datasource"]["uid"] == "${datasource}"
        refs = [target["refId"] for target in panel["targets"]]
        assert len(set(refs)) == len(refs) > 0
        for target in panel["targets"]:
            assert target["expr"].count("(") == target["expr"].count(")")
            assert target["expr"].count("{") == target["expr"].count("}")


def test_no_panel_lies_on_another_or_beyond_the_edge() -> None:
    def cells(panel: dict[str, Any]) -> set[tuple[int, int]]:
        place = panel["gridPos"]
        return {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }

    for panel in PANELS:
        assert panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24
    for one, other in combinations(PANELS, 2):
        assert not cells(one) & cells(other), (one["title"], other["title"])
