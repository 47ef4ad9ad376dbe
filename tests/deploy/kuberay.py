"""The parts of KubeRay's resources that our manifests use, as JSON schemas written for them.

Fields, required ones and types are those of KubeRay's API ``ray.io/v1`` as of 1.5.1, from which
authOptions is known. A field that is not listed is refused, so that a misspelt one is found; pods
are checked against Kubernetes' own schemas elsewhere.
"""

from typing import Any

_TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
_WHOLE = {"type": "integer", "minimum": 0}


def _fields(required: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(required),
        "properties": properties,
        "additionalProperties": False,
    }


_METADATA = _fields(("name",), name={"type": "string"}, labels=_TEXTS, namespace={"type": "string"})
_TEMPLATE = _fields(("spec",), metadata={"type": "object"}, spec={"type": "object"})
CLUSTER_SPEC = _fields(
    ("headGroupSpec",),
    rayVersion={"type": "string"},
    authOptions=_fields(("mode",), mode={"enum": ["disabled", "token"]}),
    enableInTreeAutoscaling={"type": "boolean"},
    autoscalerOptions=_fields(
        (),
        idleTimeoutSeconds=_WHOLE,
        upscalingMode={"enum": ["Default", "Aggressive", "Conservative"]},
    ),
    headGroupSpec=_fields(
        ("rayStartParams", "template"), rayStartParams=_TEXTS, template=_TEMPLATE
    ),
    workerGroupSpecs={
        "type": "array",
        "items": _fields(
            ("groupName", "minReplicas", "maxReplicas", "rayStartParams", "template"),
            groupName={"type": "string"},
            labels=_TEXTS,
            replicas=_WHOLE,
            minReplicas=_WHOLE,
            maxReplicas=_WHOLE,
            rayStartParams=_TEXTS,
            template=_TEMPLATE,
        ),
    },
)
_API = {"const": "ray.io/v1"}
SCHEMAS = {
    "RayCluster": _fields(
        ("apiVersion", "kind", "metadata", "spec"),
        apiVersion=_API,
        kind={"const": "RayCluster"},
        metadata=_METADATA,
        spec=CLUSTER_SPEC,
    ),
    "RayJob": _fields(
        ("apiVersion", "kind", "metadata", "spec"),
        apiVersion=_API,
        kind={"const": "RayJob"},
        metadata=_METADATA,
        spec=_fields(
            ("entrypoint",),
            submissionMode={"enum": ["K8sJobMode", "HTTPMode", "InteractiveMode"]},
            entrypoint={"type": "string"},
            entrypointResources={"type": "string"},
            backoffLimit=_WHOLE,
            shutdownAfterJobFinishes={"type": "boolean"},
            ttlSecondsAfterFinished=_WHOLE,
            rayClusterSpec=CLUSTER_SPEC,
        ),
    ),
}
