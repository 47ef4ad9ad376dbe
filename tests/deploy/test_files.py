"""Image, launchers and script: what the tools that read them say, before anybody pays for it."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import ray
import ray.autoscaler
import yaml

from plymill import __version__
from tests.deploy.commands import fault, in_line

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
CLUSTERS = ("local", "aws")


def tool(name: str) -> str:
    """A program beside this Python, or anywhere."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        pytest.skip(f"there is no {name}")
    return found


def cluster(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((DEPLOY / f"{name}.yaml").read_text())
    return loaded


# --- the image ------------------------------------------------------------------------------------


def test_the_image_is_as_hadolint_wants_it() -> None:
    subprocess.run([tool("hadolint"), str(DEPLOY / "Dockerfile")], check=True)


def test_the_base_is_pinned_and_named_once_and_the_image_runs_as_nobody_special() -> None:
    assert len(re.findall(r"python:[^\s]+-slim", DOCKERFILE.replace("#", "\n#"))) == 2
    assert re.search(r"^ARG BASE=python:3\.\d+\.\d+-slim-\w+$", DOCKERFILE, re.MULTILINE)
    stages = re.split(r"^FROM ", DOCKERFILE, flags=re.MULTILINE)[1:]
    assert len(stages) == 2
    assert all(stage.startswith("${BASE}") for stage in stages)
    assert re.search(r"^USER 1000:1000$", stages[-1], re.MULTILINE)
    assert "gcc" not in stages[-1]
    assert "RAY_AUTH_MODE=token" in stages[-1]
    assert "ENTRYPOINT" not in DOCKERFILE  # Ray's launcher starts a shell in it


def test_what_the_image_is_built_of_is_there_and_passes_the_ignore_file() -> None:
    copied = [
        name
        for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)
        for name in line.split()[:-1]
    ]
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert "src" in copied
    for name in copied:
        assert (ROOT / name).exists()
        assert f"!{name}" in ignored


def test_the_image_has_the_ray_that_is_tested() -> None:
    assert f'"ray[default]=={ray.__version__}"' in DOCKERFILE


# --- Ray's launchers ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_cluster_file_is_one_that_ray_takes(name: str) -> None:
    from ray.autoscaler._private.util import prepare_config, validate_config

    schema = Path(ray.autoscaler.__path__[0]) / "ray-schema.json"
    jsonschema.validate(cluster(name), json.loads(schema.read_text()))
    validate_config(prepare_config(cluster(name)))


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_cluster_asks_for_a_token_and_its_head_computes_nothing(name: str) -> None:
    config = cluster(name)
    starts = {
        key: [line for line in config[f"{key}_start_ray_commands"] if "ray start" in line]
        for key in ("head", "worker")
    }
    for lines in starts.values():
        (line,) = lines
        assert line.startswith("RAY_AUTH_MODE=token ray start ")
    (head,) = starts["head"]
    assert " --num-cpus=0 " in head
    assert " --dashboard-host=127.0.0.1 " in head
    assert config["file_mounts"] == {"~/.ray/auth_token": "~/.ray/auth_token"}


def test_options_of_ray_start_exist() -> None:
    from ray.scripts.scripts import start

    known = {option for parameter in start.params for option in parameter.opts}
    script = (DEPLOY / "local-cluster.sh").read_text().replace("\\\n", " ").splitlines()
    lines = [line for line in script if "ray start" in line or line.lstrip().startswith("node ")]
    for name in CLUSTERS:
        commands = cluster(name)
        lines += commands["head_start_ray_commands"] + commands["worker_start_ray_commands"]
    asked = {option for line in lines for option in re.findall(r"\s(--[a-z-]+)", line)}
    assert len(asked) > 10
    assert asked - known == set()


@pytest.mark.parametrize("name", CLUSTERS)
def test_commands_of_plymill_in_a_cluster_file_exist(name: str) -> None:
    config = cluster(name)
    lines = [line for key, value in config.items() if key.endswith("commands") for line in value]
    words = [words for line in lines for words in in_line(line) if words]
    assert words or any(line == "plymill --version" for line in lines)
    assert [fault(each) for each in words if fault(each)] == []


def test_workers_on_aws_are_spot_instances_and_one_is_not() -> None:
    types = cluster("aws")["available_node_types"]
    assert types["head"]["resources"] == {"CPU": 0}
    for name, market in (("head", "on-demand"), ("steady", "on-demand"), ("spot", "spot")):
        assert types[name]["labels"] == {"ray.io/market-type": market}
        options = types[name]["node_config"].get("InstanceMarketOptions", {})
        assert options.get("MarketType", "on-demand") == market
        assert types[name]["node_config"]["MetadataOptions"]["HttpTokens"] == "required"


def test_the_image_is_the_same_everywhere_and_of_this_version() -> None:
    image = cluster("aws")["docker"]["image"]
    kustomized = yaml.safe_load((DEPLOY / "kuberay/image/kustomization.yaml").read_text())
    (named,) = kustomized["images"]
    assert image == f"{named['newName']}:{named['newTag']}"
    assert image in DOCKERFILE
    assert image.endswith(f":{__version__}")


# --- the script -----------------------------------------------------------------------------------


def test_the_script_is_as_shellcheck_wants_it() -> None:
    subprocess.run([tool("shellcheck"), str(DEPLOY / "local-cluster.sh")], check=True)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--help"], 0, "usage: "),
        ([], 2, "usage: "),
        (["fly"], 2, "usage: "),
        (["status"], 3, "No cluster runs."),
        (["env"], 2, "no cluster runs"),
        (["start", "--size", "3"], 2, "there is no option '--size'"),
        (["start", "--nodes", "none"], 2, "whole numbers"),
        (["stop"], 0, ""),
    ],
)
def test_the_script_says_what_is_at_fault(
    words: list[str], code: int, said: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [str(DEPLOY / "local-cluster.sh"), *words],
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert said in done.stdout + done.stderr


def test_no_file_is_tied_to_a_machine() -> None:
    for path in DEPLOY.rglob("*"):
        if path.is_file():
            assert not re.search(r"/root|/work\b|/home/(?!plymill)", path.read_text()), path
