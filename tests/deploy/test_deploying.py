"""The files below deploy/: linted, checked against the schemas of their formats, and in step.

Nothing here is started: there is no container engine and no cluster beside the tests.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import click
import jsonschema_rs
import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml
from sqlalchemy import create_engine, text

from accordance.cli.main import COMMANDS, app
from tests.messages import edge, node, plan
from tests.runtime.stage import stage

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
HANDING_BACK = 30  # seconds beyond the drain, to hand back what is left
OWN_KINDS = {"ScaledObject", "TriggerAuthentication", "Kustomization"}
"""Kinds that Kubernetes itself does not know, so that its schemas do not either."""


def tool(name: str) -> str:
    """Return a program of the environment that runs the tests."""
    return str(Path(sys.executable).with_name(name))


def compose() -> dict[str, Any]:
    """Return the compose file."""
    document: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return document


def manifests() -> Iterator[dict[str, Any]]:
    """Yield every document of the Kubernetes manifests."""
    for file in sorted(KUBERNETES.glob("*.yaml")):
        yield from yaml.safe_load_all(file.read_text())


def named(kind: str, name: str) -> dict[str, Any]:
    """Return a manifest by its kind and name."""
    for manifest in manifests():
        if manifest["kind"] == kind and manifest["metadata"]["name"] == name:
            return manifest
    raise AssertionError(f"there is no {kind} {name}")


def pod_of(name: str) -> dict[str, Any]:
    """Return the pod of a deployment."""
    pod: dict[str, Any] = named("Deployment", name)["spec"]["template"]["spec"]
    return pod


def settings() -> dict[str, Any]:
    """Return the settings that compose mounts."""
    return tomllib.loads((DEPLOY / "accordance.toml").read_text())


# -- linters and schemas


def test_the_container_file_is_clean() -> None:
    """By hadolint, which also runs the shell's own linter over every RUN."""
    file = str(DEPLOY / "Containerfile")
    done = subprocess.run(
        [tool("hadolint"), file], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_every_yaml_file_is_clean() -> None:
    """By yamllint: no duplicate keys, no `yes` that is a boolean, no odd indents."""
    config = str(DEPLOY / ".yamllint")
    done = subprocess.run(
        [tool("yamllint"), "--strict", "-c", config, str(DEPLOY)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_the_compose_file_keeps_the_schema_of_compose() -> None:
    """A misspelt key of a service is an error there."""
    place = resources.files("check_jsonschema") / "builtin_schemas/vendor"
    schema = json.loads((place / "compose-spec.json").read_text())
    jsonschema_rs.validate(schema, compose())

    misspelt = compose()
    misspelt["services"]["worker"]["stop_grace_periods"] = "1s"
    with pytest.raises(jsonschema_rs.ValidationError):
        jsonschema_rs.validate(schema, misspelt)


def test_every_manifest_keeps_the_schema_of_kubernetes() -> None:
    """Strictly: an unknown field is an error."""
    kinds = set()
    for manifest in manifests():
        kinds.add(manifest["kind"])
        if manifest["kind"] not in OWN_KINDS:
            kubernetes_validate.validate(manifest, "1.34", strict=True)
    assert kinds >= {"Deployment", "Service", "PodDisruptionBudget", "NetworkPolicy"}


def test_kustomize_names_every_file() -> None:
    """A manifest that is not named is not applied."""
    kustomization = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text())
    files = {file.name for file in KUBERNETES.glob("*.yaml")} - {"kustomization.yaml"}
    assert set(kustomization["resources"]) == files


# -- in step with the program


def commands() -> Iterator[list[str]]:
    """Yield the command lines that the files start accordance with."""
    for service in compose()["services"].values():
        if service.get("image") == "accordance:local":
            yield service["command"]
    for name in ("accordance-server", "accordance-worker"):
        yield pod_of(name)["containers"][0]["args"]


def test_every_command_line_is_understood() -> None:
    """Each names a command of this release, with options that it has."""
    for name, *arguments in commands():
        if name == "serve" and name not in COMMANDS:
            continue  # a release without the server
        command = app.get_command(click.Context(app), name)
        assert command is not None, name
        context = click.Context(command, info_name=name)
        _, rest, _ = command.make_parser(context).parse_args(list(arguments))
        assert rest == []


def test_what_is_stopped_has_time_to_drain() -> None:
    """The grace of compose and Kubernetes is the drain, and a moment to hand back."""
    drain = settings()["run"]["drain_seconds"]
    grace = pod_of("accordance-worker")["terminationGracePeriodSeconds"]
    assert grace == drain + HANDING_BACK
    assert compose()["services"]["worker"]["stop_grace_period"] == f"{grace}s"


def test_compose_and_kubernetes_mount_the_same_settings() -> None:
    """Whoever changes one file is reminded of the other."""
    mounted = named("ConfigMap", "accordance-settings")["data"]["accordance.toml"]
    assert tomllib.loads(mounted) == settings()


def test_there_is_a_worker_for_as_many_tasks_as_it_runs() -> None:
    """The autoscaler counts in units of a worker's concurrency."""
    trigger = named("ScaledObject", "accordance-worker")["spec"]["triggers"][0]
    assert (
        int(trigger["metadata"]["targetQueryValue"])
        == (settings()["run"]["concurrency"])
    )


def test_the_autoscaler_is_complete() -> None:
    """The fields we rely on, since no schema of it is at hand."""
    scaled = named("ScaledObject", "accordance-worker")["spec"]
    assert set(scaled) == {
        "scaleTargetRef",
        "minReplicaCount",
        "maxReplicaCount",
        "pollingInterval",
        "cooldownPeriod",
        "triggers",
    }
    assert named("Deployment", scaled["scaleTargetRef"]["name"])
    (trigger,) = scaled["triggers"]
    assert trigger["type"] == "postgresql"
    login = named("TriggerAuthentication", trigger["authenticationRef"]["name"])
    (target,) = login["spec"]["secretTargetRef"]
    assert target["parameter"] == "connection"
    assert target["key"] in named("Secret", target["name"])["stringData"]


def test_the_autoscaler_counts_what_can_begin(
    tmp_path: Path, postgresql_url: str
) -> None:
    """Its query, on a real ledger: two tasks are ready, a third waits for one of them."""
    on = stage(postgresql_url, tmp_path)
    nodes = [node("root", "GOAL"), *(node(name) for name in "abc")]
    edges = [edge("root", name) for name in "abc"]
    on.brings(plan(nodes, [*edges, edge("a", "c", "DEPENDS_ON")]))
    on.ledger.close()

    trigger = named("ScaledObject", "accordance-worker")["spec"]["triggers"][0]
    engine = create_engine(on.ledger.engine.url)
    with engine.connect() as connection:
        depth = connection.execute(text(trigger["metadata"]["query"])).scalar()
    engine.dispose()
    assert depth == 2


# -- nothing more than needed


@pytest.mark.parametrize("name", ["accordance-server", "accordance-worker"])
def test_a_pod_has_few_rights(name: str) -> None:
    """No root, no writable root, no capability, no token, bounded memory."""
    pod = pod_of(name)
    (container,) = pod["containers"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"]["requests"].keys() >= {"cpu", "memory"}
    assert "memory" in container["resources"]["limits"]
    assert {"livenessProbe", "readinessProbe"} <= container.keys()
    assert named("PodDisruptionBudget", name)
    assert named("NetworkPolicy", name)


def test_services_of_compose_have_few_rights() -> None:
    """The same for accordance's own services there."""
    for service in compose()["services"].values():
        if service.get("image") != "accordance:local":
            continue
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["user"] == "10001:10001"


def test_no_secret_is_in_a_file() -> None:
    """Passwords are asked for, or are to be replaced."""
    for value in named("Secret", "accordance")["stringData"].values():
        assert "change-me" in value or value.startswith("postgresql://accordance@")
    for service in compose()["services"].values():
        for name, value in service.get("environment", {}).items():
            is_secret = re.search("PASSWORD|KEY", name)
            assert not is_secret or value.startswith("${")


# -- what the image is built from


def pins(name: str) -> Mapping[str, str]:
    """Return the versions that a file of requirements pins."""
    lines = (ROOT / "requirements" / name).read_text().splitlines()
    found = {}
    for line in lines:
        pin = re.match(r"([a-z0-9._-]+)(?:\[.*\])?==([^ ;]+)", line)
        if pin:
            found[pin[1]] = pin[2]
    return found


def test_the_image_has_the_versions_that_are_tested() -> None:
    """Every package of the image, with a hash, in the version of the tests."""
    content = (ROOT / "requirements" / "image.txt").read_text()
    tested = pins("dev.txt")
    for name, version in pins("image.txt").items():
        assert tested[name] == version
    assert content.count("--hash=") >= len(pins("image.txt"))
    assert "://" not in content


def test_what_the_image_copies_is_sent_to_the_builder() -> None:
    """The ignore file leaves everything out but what the container file copies."""
    ignored = (ROOT / ".containerignore").read_text().splitlines()
    sent = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    copied = set()
    for line in (DEPLOY / "Containerfile").read_text().splitlines():
        words = line.split()
        if words[:1] == ["COPY"] and "--from=build" not in words:
            copied.update(words[1:-1])
    assert copied == sent
    assert all((ROOT / name).exists() for name in copied)


def test_the_page_shows_what_the_simulation_says() -> None:
    """The table of sizes is that of bench/sizing.py, from the costs that were measured."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / "sizing.py"), "--json"],
        check=True,
        capture_output=True,
        text=True,
    )
    table = "\n".join(json.loads(done.stdout)["table"])
    assert table in (ROOT / "docs" / "deploying.md").read_text()
