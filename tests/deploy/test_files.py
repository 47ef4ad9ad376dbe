"""Image, launchers and script: what the tools that read them say, before anybody pays for it."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import ray
import ray.autoscaler
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from plymill import __version__
from tests.deploy.commands import fault, in_line

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
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


# --- what the image's packages are ----------------------------------------------------------------


def pins() -> dict[str, Version]:
    """The versions in the file of constraints; each line there is one exact version."""
    found: dict[str, Version] = {}
    for line in (DEPLOY / "constraints.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, version = line.split("==")
            found[canonicalize_name(name)] = Version(version)
    return found


def asked_of_pip() -> list[Requirement]:
    """What the Dockerfile has installed: packages by name, and what plymill and its extras need."""
    (line,) = re.findall(r"pip install (.+)$", DOCKERFILE, re.MULTILINE)
    texts: list[str] = []
    for word in shlex.split(line):
        if word.startswith("."):
            texts += PROJECT["project"]["dependencies"]
            for extra in re.findall(r"\w+", word):
                texts += PROJECT["project"]["optional-dependencies"][extra]
        elif not word.startswith("--"):
            texts.append(word)
    return [Requirement(text) for text in texts]


def needs(requirement: Requirement, pinned: dict[str, Version]) -> Iterator[Requirement]:
    """What a package needs in the image, if it is installed here in the version that is pinned."""
    try:
        here = metadata.distribution(requirement.name)
    except metadata.PackageNotFoundError:
        return
    if Version(here.version) != pinned.get(canonicalize_name(requirement.name)):
        return
    (python,) = re.findall(r"^ARG BASE=python:(3\.\d+)", DOCKERFILE, re.MULTILINE)
    for text in here.requires or ():
        needed = Requirement(text)
        wanted = needed.marker is None or any(
            needed.marker.evaluate({"python_version": python, "sys_platform": "linux", "extra": e})
            for e in ("", *requirement.extras)
        )
        if wanted:
            yield needed


def test_all_that_the_image_installs_is_pinned_to_a_version_that_will_do() -> None:
    pinned = pins()
    todo, seen = asked_of_pip(), set()
    assert {"numpy", "ray", "fastapi", "boto3"} <= {requirement.name for requirement in todo}
    while todo:
        requirement = todo.pop()
        name = canonicalize_name(requirement.name)
        assert name in pinned, requirement
        assert requirement.specifier.contains(pinned[name], prereleases=True), requirement
        if str(requirement) not in seen:
            seen.add(str(requirement))
            todo += needs(requirement, pinned)


def test_what_compiles_plymill_in_the_image_is_pinned_too_and_nothing_for_developers_is() -> None:
    pinned = pins()
    for text in PROJECT["build-system"]["requires"]:
        requirement = Requirement(text)
        assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)])
    assert not {"pytest", "mypy", "ruff", "moto", "hypothesis"} & set(pinned)


def test_pip_heeds_the_constraints_in_the_image_when_it_installs_and_when_it_compiles() -> None:
    before, _ = DOCKERFILE.split("pip install")
    (folder,) = re.findall(r"^WORKDIR (.+)$", before, re.MULTILINE)
    assert re.search(r"^COPY deploy/constraints.txt deploy/$", before, re.MULTILINE)
    for variable in ("PIP_CONSTRAINT", "PIP_BUILD_CONSTRAINT"):
        assert f"{variable}={folder}/deploy/constraints.txt" in before


def test_the_image_has_the_ray_that_is_tested() -> None:
    assert pins()["ray"] == Version(ray.__version__)


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


def test_aws_keeps_one_spot_machine_while_nothing_runs_and_the_guide_says_so() -> None:
    config = cluster("aws")
    types = config["available_node_types"]
    spot = types["spot"]
    assert spot["min_workers"] == 1
    assert config["idle_timeout_minutes"] == 5
    assert config["max_workers"] == sum(each["max_workers"] for each in types.values())
    most, rest = f"up to {spot['max_workers']}", "while there is work, one otherwise"
    assert f"{most} spot machines {rest}" in (ROOT / "docs" / "cluster.md").read_text()
    assert f"{most} {rest}" in (DEPLOY / "aws.yaml").read_text()


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
