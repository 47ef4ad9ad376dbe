"""The manifests: what Kubernetes and KubeRay take, who may do what, and commands that exist."""

import json
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import ray
import yaml

from plymill import __version__
from plymill.cluster.sending.look import ClusterLook, NodeLook, driver_labels
from tests.deploy.commands import fault, in_line
from tests.deploy.kuberay import SCHEMAS

FOLDER = Path(__file__).parents[2] / "deploy" / "kuberay"
FILES = ("raycluster.yaml", "network.yaml", "page.yaml", "job/rayjob.yaml", "job/network.yaml")
POLICIES = ("network.yaml: NetworkPolicy", "job/network.yaml: NetworkPolicy")
MARKET = "ray.io/market-type"


def documents(path: Path) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all(path.read_text()) if document]


RESOURCES = {
    f"{name}: {document['kind']}": document
    for name in FILES
    for document in documents(FOLDER / name)
}


def cluster_specs() -> list[dict[str, Any]]:
    return [
        RESOURCES["raycluster.yaml: RayCluster"]["spec"],
        RESOURCES["job/rayjob.yaml: RayJob"]["spec"]["rayClusterSpec"],
    ]


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every pod that comes of the manifests, by name."""
    for spec in cluster_specs():
        yield "head", spec["headGroupSpec"]["template"]
        for group in spec["workerGroupSpecs"]:
            yield group["groupName"], group["template"]
    yield "page", RESOURCES["page.yaml: Deployment"]["spec"]["template"]


@pytest.mark.parametrize("name", RESOURCES)
def test_a_resource_is_one_that_its_api_takes(name: str) -> None:
    resource = RESOURCES[name]
    if resource["kind"] in SCHEMAS:
        jsonschema.validate(resource, SCHEMAS[resource["kind"]])
        return
    kubernetes = pytest.importorskip("kubernetes_validate")
    kubernetes.validate(resource, kubernetes.latest_version(), strict=True)


@pytest.mark.parametrize(("name", "template"), pods())
def test_a_pod_is_one_that_kubernetes_takes(name: str, template: dict[str, Any]) -> None:
    kubernetes = pytest.importorskip("kubernetes_validate")
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, **template.get("metadata", {})},
        "spec": template["spec"],
    }
    kubernetes.validate(pod, kubernetes.latest_version(), strict=True)


@pytest.mark.parametrize(("name", "template"), pods())
def test_no_pod_has_more_rights_than_it_needs(name: str, template: dict[str, Any]) -> None:
    spec = template["spec"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] > 0
    assert spec["automountServiceAccountToken"] is (name == "head")
    mounts = {volume["name"] for volume in spec["volumes"]}
    for container in spec["containers"]:
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert container["resources"]["limits"]["memory"]
        assert {mount["name"] for mount in container["volumeMounts"]} <= mounts


@pytest.mark.parametrize("spec", cluster_specs())
def test_clusters_ask_for_a_token_and_their_heads_compute_nothing(spec: dict[str, Any]) -> None:
    assert spec["authOptions"] == {"mode": "token"}
    assert spec["rayVersion"] == ray.__version__
    assert spec["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"
    groups = {group["groupName"]: group for group in spec["workerGroupSpecs"]}
    for market, group in (("on-demand", groups["steady"]), ("spot", groups["spot"])):
        assert group["labels"] == {MARKET: market}
        assert "labels" not in group["rayStartParams"]  # KubeRay refuses a cluster that has them
        assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]
        assert ("affinity" in group["template"]["spec"]) is (market == "spot")


@pytest.mark.parametrize("spec", cluster_specs())
def test_one_spot_node_is_kept_while_nothing_runs_and_the_guide_says_so(
    spec: dict[str, Any],
) -> None:
    (spot,) = (group for group in spec["workerGroupSpecs"] if group["groupName"] == "spot")
    assert spot["replicas"] == spot["minReplicas"] == 1
    assert spec["enableInTreeAutoscaling"] is True
    assert spec["autoscalerOptions"]["idleTimeoutSeconds"] == 300
    guide = " ".join((FOLDER.parents[1] / "docs" / "cluster.md").read_text().split())
    assert f"up to {spot['maxReplicas']} spot nodes while there is work, one otherwise" in guide


# --- where drivers go -----------------------------------------------------------------------------


def in_shell(option: str, value: str) -> Any:
    """What Ray is given for an option that KubeRay writes into a command of the shell."""
    _, found = shlex.split(f"{option} {value}")
    return json.loads(found)


def node_types(spec: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What Ray's own autoscaler takes each group of nodes for."""
    from ray.autoscaler._private.kuberay.autoscaling_config import _node_type_from_group_spec

    head = _node_type_from_group_spec(spec["headGroupSpec"], is_head=True)
    groups = {group["groupName"]: group for group in spec["workerGroupSpecs"]}
    others = {name: _node_type_from_group_spec(group, False) for name, group in groups.items()}
    return {"head": head, **others}


@pytest.mark.parametrize("spec", cluster_specs())
def test_ray_and_its_autoscaler_read_the_same_resources_of_the_steady_group(
    spec: dict[str, Any],
) -> None:
    (steady,) = (group for group in spec["workerGroupSpecs"] if group["groupName"] == "steady")
    given = in_shell("--resources", steady["rayStartParams"]["resources"])
    resources = node_types(spec)["steady"]["resources"]
    assert {name: resources[name] for name in given} == given
    assert resources["CPU"] == 4


def test_the_driver_of_the_job_fits_nowhere_but_where_submit_puts_drivers() -> None:
    job = RESOURCES["job/rayjob.yaml: RayJob"]["spec"]
    types = node_types(job["rayClusterSpec"])
    asked = in_shell("--entrypoint-resources", json.dumps(job["entrypointResources"]))
    assert asked  # or Ray puts it on the head
    fits = {
        name
        for name, each in types.items()
        if all(each["resources"].get(resource, 0) >= much for resource, much in asked.items())
    }
    nodes = [
        NodeLook(
            node=name, head=name == "head", cpus=each["resources"]["CPU"], labels=each["labels"]
        )
        for name, each in types.items()
    ]
    chosen = driver_labels(ClusterLook(ray=ray.__version__, nodes=tuple(nodes)))
    assert chosen == {"ray.io/node-id": "!head", MARKET: "!spot"}
    assert fits == {"steady"}
    assert "CPU" not in asked  # a driver takes no processor from the workers


def test_the_job_brings_the_same_cluster_and_a_command_that_exists() -> None:
    waiting, own = cluster_specs()
    assert waiting == own
    (words,) = in_line(RESOURCES["job/rayjob.yaml: RayJob"]["spec"]["entrypoint"])
    assert fault(words) == ""


# --- who reaches what -----------------------------------------------------------------------------


def selects(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    """Whether a selector of Kubernetes takes something with such labels."""
    same = selector.get("matchLabels", {}).items() <= labels.items()
    return same and all(
        rule["operator"] == "In" and labels.get(rule["key"]) in rule["values"]
        for rule in selector.get("matchExpressions", ())
    )


def admits(policy: dict[str, Any], namespace: str, pod: dict[str, str], port: int) -> bool:
    """Whether a policy, itself in the namespace "ours", lets a pod through to a port."""
    spaces = {"kubernetes.io/metadata.name": namespace}
    for rule in policy["spec"]["ingress"]:
        if port not in [each["port"] for each in rule.get("ports", ())] and "ports" in rule:
            continue
        for peer in rule["from"]:
            space = peer.get("namespaceSelector")
            there = namespace == "ours" if space is None else selects(space, spaces)
            if there and selects(peer["podSelector"], pod):
                return True
    return False


OPERATORS = [  # as KubeRay's chart and its Kustomize folder label them
    {"app.kubernetes.io/name": name, "app.kubernetes.io/component": "kuberay-operator"}
    for name in ("kuberay-operator", "kuberay")
]
PROMETHEUS = {"app.kubernetes.io/name": "prometheus"}


@pytest.mark.parametrize("name", POLICIES)
def test_nodes_are_reached_by_their_namespace_the_operator_and_prometheus_alone(name: str) -> None:
    policy = RESOURCES[name]
    for port in (6379, 8080, 8265, 10001):
        assert admits(policy, "ours", {}, port)
        assert not admits(policy, "theirs", {}, port)
        for operator in OPERATORS:
            assert admits(policy, "kuberay-system", operator, port) is (port == 8265)
            assert admits(policy, "default", operator, port) is (port == 8265)
            assert not admits(policy, "theirs", operator, port)
        assert admits(policy, "monitoring", PROMETHEUS, port) is (port == 8080)
        assert not admits(policy, "theirs", PROMETHEUS, port)
        assert not admits(policy, "default", {}, port)
        assert not admits(policy, "monitoring", {}, port)


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_is_for_all_nodes_and_not_for_the_page(name: str) -> None:
    selector = RESOURCES[name]["spec"]["podSelector"]
    assert RESOURCES[name]["spec"]["policyTypes"] == ["Ingress"]
    for pod, template in pods():
        assert selects(selector, template["metadata"]["labels"]) is (pod != "page")


def test_the_job_brings_the_same_policy_under_a_name_of_its_own() -> None:
    waiting, own = (RESOURCES[name] for name in POLICIES)
    assert waiting["spec"] == own["spec"]
    assert waiting["metadata"]["name"] != own["metadata"]["name"]  # it is removed with the job
    for folder in (FOLDER, FOLDER / "job"):
        listed = yaml.safe_load((folder / "kustomization.yaml").read_text())["resources"]
        assert "network.yaml" in listed


def test_the_page_is_a_command_that_exists_and_asks_for_a_token() -> None:
    pod = RESOURCES["page.yaml: Deployment"]["spec"]["template"]
    (container,) = pod["spec"]["containers"]
    name, *words = container["command"]
    assert name == "plymill"
    assert fault(words) == ""
    (token,) = container["env"]
    assert token["name"] == "PLYMILL_PAGE_TOKEN"
    assert "secretKeyRef" in token["valueFrom"]
    service = RESOURCES["page.yaml: Service"]["spec"]
    assert service["selector"].items() <= pod["metadata"]["labels"].items()


def test_credentials_come_from_secrets_and_stand_in_no_file() -> None:
    for name, template in pods():
        for container in template["spec"]["containers"]:
            assert {"secretRef": {"name": "plymill-store"}} in container["envFrom"], name
            assert all("value" not in variable for variable in container.get("env", ()))
    example = (FOLDER / "store.env.example").read_text().splitlines()
    values = dict(line.split("=", 1) for line in example)
    assert values["PLYMILL_STORE"].startswith("s3://")
    assert values["AWS_SECRET_ACCESS_KEY"] == values["AWS_ACCESS_KEY_ID"] == ""
    assert not (FOLDER / "store.env").exists()


def test_the_image_is_named_in_one_place() -> None:
    for _, template in pods():
        assert [container["image"] for container in template["spec"]["containers"]] == ["plymill"]
    (image,) = yaml.safe_load((FOLDER / "image" / "kustomization.yaml").read_text())["images"]
    assert image["name"] == "plymill"
    assert image["newTag"] == __version__
    named = [path for path in FOLDER.rglob("*.yaml") if image["newName"] in path.read_text()]
    assert named == [FOLDER / "image" / "kustomization.yaml"]


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="there is no kubectl")
@pytest.mark.parametrize(
    ("folder", "kinds"),
    [
        (".", {"RayCluster", "NetworkPolicy", "Deployment", "Service"}),
        ("job", {"RayJob", "NetworkPolicy"}),
    ],
)
def test_kustomize_puts_the_image_everywhere(folder: str, kinds: set[str]) -> None:
    built = subprocess.run(
        ["kubectl", "kustomize", str(FOLDER / folder)], capture_output=True, text=True, check=True
    ).stdout
    resources = list(yaml.safe_load_all(built))
    assert {resource["kind"] for resource in resources} == kinds
    images = {line.split()[-1] for line in built.splitlines() if "image:" in line}
    assert images == {f"registry.example.com/plymill:{__version__}"}
