"""What a run was made with: versions, a digest of our own sources, commit, platform."""

from __future__ import annotations

import hashlib
import platform
import shutil
import subprocess
from importlib import import_module, metadata, resources
from importlib.resources.abc import Traversable
from typing import Any

PACKAGES = ("heldout", "numpy", "scipy", "pydantic", "SQLAlchemy", "litellm", "mlflow", "dspy")
FOLDERS = ("splits", "students", "reflectors", "gepa", "experiments")


def provenance() -> dict[str, Any]:
    """Versions by package, `source_sha256`, commit and dirty paths of a checkout, platform."""
    return {
        "versions": {"python": platform.python_version(), **_versions()},
        "source_sha256": source_sha256(),
        **_checkout(),
        "platform": f"{platform.system()} {platform.machine()}",
    }


def source_sha256() -> str:
    """Digest over the names and bytes of every source file and template of this package."""
    hasher = hashlib.sha256()
    for folder in FOLDERS:
        for name, file in sorted(_files(resources.files(f"heldout.{folder}"), folder)):
            hasher.update(f"{name}\n".encode())
            hasher.update(hashlib.sha256(file.read_bytes()).digest())
    return hasher.hexdigest()


def _files(folder: Traversable, prefix: str) -> list[tuple[str, Traversable]]:
    found = []
    for item in folder.iterdir():
        name = f"{prefix}/{item.name}"
        if item.is_dir():
            found += [] if item.name == "__pycache__" else _files(item, name)
        elif item.is_file():
            found.append((name, item))
    return found


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _checkout() -> dict[str, Any]:
    """Commit and changed paths, both None outside a checkout of this project."""
    root = import_module("heldout.splits").__path__[0]
    commit = _git(root, "rev-parse", "HEAD")
    status = _git(root, "status", "--porcelain", "--untracked-files=no")
    dirty = None if status is None else tuple(line[3:] for line in status.splitlines())[:50]
    return {"commit": commit and commit.strip(), "dirty": dirty}


def _git(folder: str, *arguments: str) -> str | None:
    git = shutil.which("git")
    if git is None:
        return None
    done = subprocess.run(
        [git, "-C", folder, *arguments], capture_output=True, text=True, check=False, timeout=10
    )
    return done.stdout if done.returncode == 0 else None
