"""The files in cluster/: valid by the schemas of those who read them, and closed by default.

Launcher files are checked with Ray's own schema. Pods, policies and claims are checked strictly
with Kubernetes' schemas (kubernetes-validate). What KubeRay adds around pods is stated here by hand:
fields that we use, their types, and no others. They were compared with the generated API reference of
KubeRay v1.7.0 and v1.6.2 (docs/reference/api.md of those tags, as Ray's documentation vendors it), in
which they are the same. Which are required stands in neither: that is from the Go types
(ray-operator/apis/ray/v1) of a master near v1.7, and what the operator refuses beyond from its
validation.go.
"""

import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import jsonschema
import kubernetes_validate
import pytest
import ray.autoscaler
import yaml

from tests.conftest import ROOT

FOLDER = ROOT / "cluster"
LAUNCHER = ("aws.yaml", "gcp.yaml", "on-premise.yaml")
ALL = sorted(path for path in FOLDER.rglob("*") if path.is_file())
_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}


def group(*required: str, **more) -> dict:
    return {
        "type": "object", "additionalProperties": False, "required": ["template", *required],
        "properties": {
            "rayStartParams": {"type": "object", "additionalProperties": _TEXT},
            "template": {"type": "object"}, **more,
        },
    }  # fmt: skip


CLUSTER_SPEC = {
    "type": "object", "additionalProperties": False, "required": ["headGroupSpec"],
    "properties": {
        "rayVersion": _TEXT,
        "authOptions": {
            "type": "object", "additionalProperties": False,
            "properties": {"mode": {"enum": ["disabled", "token"]}},
        },
        "headGroupSpec": group(),
        "workerGroupSpecs": {"type": "array", "items": group(
            "groupName", "minReplicas", "maxReplicas",
            groupName=_TEXT, replicas=_COUNT, minReplicas=_COUNT, maxReplicas=_COUNT,
        )},
    },
}  # fmt: skip
# The CRD requires neither of the two, which we need, and lists no modes: Go's constants do.
JOB_SPEC = {
    "type": "object", "additionalProperties": False, "required": ["entrypoint", "rayClusterSpec"],
    "properties": {
        "entrypoint": _TEXT, "runtimeEnvYAML": _TEXT, "backoffLimit": _COUNT,
        "activeDeadlineSeconds": _COUNT | {"minimum": 1},
        "shutdownAfterJobFinishes": {"type": "boolean"}, "ttlSecondsAfterFinished": _COUNT,
        "rayClusterSpec": CLUSTER_SPEC,
        "submissionMode": {"enum": ["K8sJobMode", "HTTPMode", "InteractiveMode", "SidecarMode"]},
    },
}  # fmt: skip


def loaded(name: str) -> dict:
    return yaml.safe_load((FOLDER / name).read_text())


@pytest.mark.parametrize("name", LAUNCHER)
def test_launcher_files(name):
    schema = json.loads((Path(ray.autoscaler.__file__).parent / "ray-schema.json").read_text())
    jsonschema.validate(loaded(name), schema)
    started = [line for key in ("head_start_ray_commands", "worker_start_ray_commands")
               for line in loaded(name)[key] if "ray start" in line]  # fmt: skip
    assert len(started) == 2 and all("RAY_AUTH_MODE=token" in line for line in started)
    assert "--dashboard-host=127.0.0.1" in started[0]


def test_ray_reads_the_launcher_file_for_own_machines():
    """Defaults filled in and checked by Ray itself; the clouds' need their own libraries."""
    from ray.autoscaler._private.util import prepare_config, validate_config

    validate_config(prepare_config(loaded("on-premise.yaml")))


@pytest.mark.parametrize(("name", "kind", "schema"), [
    ("kuberay/raycluster.yaml", "RayCluster", CLUSTER_SPEC), ("kuberay/rayjob.yaml", "RayJob", JOB_SPEC),
])  # fmt: skip
def test_kuberay_files(name, kind, schema):
    found = loaded(name)
    assert (found["apiVersion"], found["kind"]) == ("ray.io/v1", kind)
    jsonschema.validate(found["spec"], schema)
    spec = found["spec"].get("rayClusterSpec", found["spec"])
    assert spec["authOptions"] == {"mode": "token"}
    assert spec["rayVersion"] == version("ray")
    for each in (spec["headGroupSpec"], *spec["workerGroupSpecs"]):
        template = each["template"]
        pods = {
            "apiVersion": "v1",
            "kind": "PodTemplate",
            "metadata": {"name": "x"},
            "template": template,
        }
        kubernetes_validate.validate(pods, kubernetes_validate.latest_version(), strict=True)
        assert template["metadata"]["labels"] == {"app": "gsl-scale"}  # whom the policy is for
        assert any(
            v.get("emptyDir", {}).get("medium") == "Memory" for v in template["spec"]["volumes"]
        )
    gpu = spec["workerGroupSpecs"][0]["template"]["spec"]["containers"][0]
    assert gpu["resources"]["limits"]["nvidia.com/gpu"] == "1"


@pytest.mark.parametrize("name", ["kuberay/raycluster.yaml", "kuberay/rayjob.yaml"])
def test_what_the_operator_of_kuberay_would_refuse(name):
    found = loaded(name)
    named = found["metadata"].get("name") or found["metadata"]["generateName"] + "x" * 5
    assert re.fullmatch(r"[a-z]([-a-z0-9]*[a-z0-9])?", named)
    job = found["spec"]
    spec = job.get("rayClusterSpec", job)
    assert tuple(map(int, spec["rayVersion"].split("."))) >= (2, 52, 0)  # for tokens
    for workers in spec["workerGroupSpecs"]:
        assert workers["minReplicas"] <= workers["replicas"] <= workers["maxReplicas"]
    if found["kind"] == "RayJob":
        assert isinstance(yaml.safe_load(job["runtimeEnvYAML"]), dict)
        assert job["shutdownAfterJobFinishes"] or not job["ttlSecondsAfterFinished"]
        assert job["submissionMode"] != "InteractiveMode" or not job["backoffLimit"]


def test_the_operator_of_kuberay_is_let_in():
    """By the one label that both ways of installing it, Helm and kustomize, give its pod."""
    peers = [
        peer for rule in loaded("kuberay/network.yaml")["spec"]["ingress"] for peer in rule["from"]
    ]
    assert {"app.kubernetes.io/component": "kuberay-operator"} in [
        peer["podSelector"].get("matchLabels") for peer in peers
    ]


def test_a_misspelt_field_is_found():
    job = loaded("kuberay/rayjob.yaml")["spec"]
    for wrong in ({"backofLimit": 1}, {"backoffLimit": "3"}, {"submissionMode": "Sidecar"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(job | wrong, JOB_SPEC)
    del job["rayClusterSpec"]["workerGroupSpecs"][0]["maxReplicas"]
    with pytest.raises(jsonschema.ValidationError, match="'maxReplicas' is a required property"):
        jsonschema.validate(job, JOB_SPEC)
    policy = loaded("kuberay/network.yaml")
    policy["spec"]["ingres"] = []
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(policy, kubernetes_validate.latest_version(), strict=True)


@pytest.mark.parametrize("name", ["kuberay/network.yaml", "kuberay/storage.yaml"])
def test_kubernetes_files(name):
    kubernetes_validate.validate(loaded(name), kubernetes_validate.latest_version(), strict=True)


def test_the_entry_point_of_the_job_exists():
    words = loaded("kuberay/rayjob.yaml")["spec"]["entrypoint"].split()
    assert (ROOT / words[2].replace(".", "/")).with_suffix(".py").exists()
    assert (ROOT / words[words.index("--config") + 1]).exists()


def test_scripts():
    scripts = [path for path in ALL if path.suffix == ".sh"]
    checker = Path(sys.executable).parent / "shellcheck"
    checked = subprocess.run(
        [checker, *scripts, ROOT / ".ci/run"], capture_output=True, text=True, check=False
    )
    assert scripts and checked.returncode == 0, checked.stdout


def test_the_image():
    """As far as it goes without building it: what it copies is there, and it runs as nobody special."""
    text = (FOLDER / "Dockerfile").read_text()
    for line in re.findall(r"^COPY (.+) \S+$", text, re.MULTILINE):
        assert all((ROOT / word).exists() for word in line.split())
    assert "RAY_AUTH_MODE=token" in text
    assert re.search(r"^USER ray$", text, re.MULTILINE)


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)
def test_no_secret_and_no_open_door(path):
    text = path.read_text()
    assert not re.search(
        r"(token|password|secret)\s*[:=]\s*['\"]?[0-9a-f]{16,}", text, re.IGNORECASE
    )
    assert "0.0.0.0" not in text and "auth_mode=disabled" not in text.lower()


@pytest.mark.parametrize(
    "path", sorted((ROOT / "jobs").glob("[!_]*.py")), ids=lambda path: path.stem
)
def test_entry_points_say_how_they_are_submitted(path):
    first = path.read_text().splitlines()[0]
    assert first.startswith(f'"""ray job submit --working-dir . -- python -m jobs.{path.stem} ')
    assert "--config" in first
    shown = subprocess.run(
        [sys.executable, "-m", f"jobs.{path.stem}", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
