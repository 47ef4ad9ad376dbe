"""The manifests: what Kubernetes and KubeRay take, who may do what, and commands that exist."""

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
from tests.deploy.commands import fault, in_line
from tests.deploy.kuberay import SCHEMAS

FOLDER = Path(__file__).parents[2] / "deploy" / "kuberay"
FILES = ("raycluster.yaml", "network.yaml", "page.yaml", "job/rayjob.yaml")


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
        assert group["rayStartParams"]["labels"] == f"ray.io/market-type={market}"
        assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]
        assert ("affinity" in group["template"]["spec"]) is (market == "spot")


def test_the_job_brings_the_same_cluster_and_a_command_that_exists() -> None:
    waiting, own = cluster_specs()
    assert waiting == own
    (words,) = in_line(RESOURCES["job/rayjob.yaml: RayJob"]["spec"]["entrypoint"])
    assert fault(words) == ""


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
        ("job", {"RayJob"}),
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
