"""What ssme is installed with: a CycloneDX list of components, and their licences.

    python scripts/make_sbom.py            # writes docs/sbom.cdx.json
    python scripts/make_sbom.py --check    # fails where a dependency is missing or its licence odd

The components are what `pyproject.toml` names as dependencies and in its extras for users, with all
that these need, in the versions of this environment. Extras that are not installed here (torch,
mlflow) are left out and named. Nothing in the file depends on the day or the machine.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
import uuid
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "sbom.cdx.json"
EXTRAS = ("parquet", "yaml", "excel", "report", "dask", "web", "flow", "mlflow")
PERMISSIVE = ("MIT", "BSD", "Apache", "PSF", "Python Software Foundation", "ISC", "HPND", "MPL")
PERMISSIVE += ("Zlib", "0BSD", "Unlicense")
"""Licences, by a word of their name, that let anyone use, change and pass on the program."""


def normalize(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def find_name(requirement: str) -> str:
    """The name in a requirement."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found, requirement
    return normalize(found[0])


def is_needed(requirement: str) -> bool:
    """Whether a requirement counts without an extra, on this kind of system."""
    _, _, marker = requirement.partition(";")
    return not re.search(r"extra ==|win32|Windows|Darwin|emscripten|python_version\s*<", marker)


def list_wanted() -> dict[str, str]:
    """Name -> the extra that brings it, empty for the core."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = {find_name(each): "" for each in project["dependencies"]}
    for extra in EXTRAS:
        for each in project["optional-dependencies"][extra]:
            if not each.startswith("ssme["):
                found.setdefault(find_name(each), extra)
    return found


def find_closure(names: list[str]) -> tuple[dict[str, metadata.Distribution], list[str]]:
    """Distributions that these need, by name, and those that are not installed here."""
    found: dict[str, metadata.Distribution] = {}
    absent, queue = [], list(names)
    while queue:
        name = queue.pop()
        if name in found or name in absent:
            continue
        try:
            found[name] = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            absent.append(name)
            continue
        queue += [find_name(each) for each in found[name].requires or [] if is_needed(each)]
    return dict(sorted(found.items())), sorted(set(absent) & set(names))


def find_licence(distribution: metadata.Distribution) -> str:
    """What a distribution says of its licence: the expression, the classifiers, or the text."""
    told = distribution.metadata
    if told.get("License-Expression"):
        return str(told["License-Expression"])
    classes = [c for c in told.get_all("Classifier") or [] if c.startswith("License ::")]
    specific = [c.rpartition(" :: ")[2] for c in classes if not c.endswith("OSI Approved")]
    if specific:
        return " OR ".join(specific)
    return str(told.get("License") or "unknown").strip().split("\n")[0][:80]


def make_component(name: str, distribution: metadata.Distribution) -> dict[str, Any]:
    return {
        "type": "library",
        "bom-ref": f"pkg:pypi/{name}@{distribution.version}",
        "name": name,
        "version": distribution.version,
        "purl": f"pkg:pypi/{name}@{distribution.version}",
        "licenses": [{"license": {"name": find_licence(distribution)}}],
    }


def make() -> tuple[dict[str, Any], list[str]]:
    """The document, and the names that are not installed here."""
    direct = list_wanted()
    found, absent = find_closure(list(direct))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    parts = {name: make_component(name, of) for name, of in found.items()}
    own = f"pkg:pypi/ssme@{project['version']}"
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": own,
                "name": "ssme",
                "version": project["version"],
                "purl": own,
                "licenses": [{"license": {"id": project["license"]}}],
            }
        },
        "components": list(parts.values()),
        "dependencies": [
            {"ref": own, "dependsOn": [parts[n]["bom-ref"] for n in sorted(direct) if n in parts]},
            *(
                {
                    "ref": parts[name]["bom-ref"],
                    "dependsOn": sorted(
                        {
                            parts[find_name(each)]["bom-ref"]
                            for each in of.requires or []
                            if is_needed(each) and find_name(each) in parts
                        }
                    ),
                }
                for name, of in found.items()
            ),
        ],
    }
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(document, sort_keys=True))
    return {**document, "serialNumber": f"urn:uuid:{serial}"}, absent


def find_problems(document: dict[str, Any]) -> list[str]:
    """Direct dependencies that a document lacks, and licences that are not permissive."""
    parts = {
        each["name"]: each["licenses"][0]["license"]["name"] for each in document["components"]
    }
    heavy = ("torch", "mlflow")
    lacking = [name for name in list_wanted() if name not in parts and name not in heavy]
    odd = [
        f"{name}: {text}" for name, text in parts.items() if not any(w in text for w in PERMISSIVE)
    ]
    return [f"no component {name}" for name in lacking] + [f"licence of {each}" for each in odd]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--check", action="store_true", help="look at the file that is there")
    if parser.parse_args().check:
        found = find_problems(json.loads(TARGET.read_text()))
        print("\n".join(found) or "every dependency is listed, with a permissive licence")
        return int(bool(found))
    document, absent = make()
    TARGET.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")
    left = f"; not installed here: {', '.join(absent)}" if absent else ""
    print(f"{TARGET.relative_to(ROOT)}: {len(document['components'])} components{left}")
    return int(bool(find_problems(document)))


if __name__ == "__main__":
    sys.exit(main())
