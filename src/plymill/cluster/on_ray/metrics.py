"""Metrics by way of Ray, whose agent on each node offers them to Prometheus."""

from collections.abc import Mapping
from typing import Any

from ray.util import metrics as ray_metrics

from plymill.cluster.metrics import METRICS, Kind, Metric

#: Seconds; units are meant to take 30 to 60.
_BOUNDARIES = (1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1800)


class RaySink:
    """A `plymill.cluster.metrics.Sink`. Make it once the process is connected to Ray."""

    def __init__(self) -> None:
        self._recorders = {metric.name: _recorder(metric) for metric in METRICS}

    def __call__(self, metric: Metric, value: float, tags: Mapping[str, str]) -> None:
        """Record a value."""
        self._recorders[metric.name](value, tags=dict(tags))


def _recorder(metric: Metric) -> Any:
    tags = ("run", *metric.tags)
    match metric.kind:
        case Kind.COUNTER:
            return ray_metrics.Counter(metric.name, metric.description, tags).inc
        case Kind.GAUGE:
            return ray_metrics.Gauge(metric.name, metric.description, tags).set
        case Kind.HISTOGRAM:
            return ray_metrics.Histogram(
                metric.name, metric.description, list(_BOUNDARIES), tags
            ).observe
