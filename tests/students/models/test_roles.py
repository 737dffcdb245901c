from pathlib import Path

import pytest

from heldout.splits.errors import BadInput
from heldout.students.models.pins import ROLES, load_pins, read_roles, require

SHIPPED = Path(__file__).parents[3] / "configs" / "models.yaml"


def written(folder, text):
    path = folder / "models.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_shipped_file_pins_every_role():
    roles = read_roles(SHIPPED, load_pins(SHIPPED))
    require(roles, ROLES, "roles")
    assert roles["judge"].pin.id == "sim/judge"
    assert roles["reflector"].pin.id == "sim/reflector"


def test_roles_go_by_the_names_of_pins(tmp_path):
    path = written(
        tmp_path,
        "roles: {judge: mine}\nmodels:\n  mine:\n    model: openai/x\n"
        "    api_base: http://127.0.0.1:1/v1\n",
    )
    assert read_roles(path, load_pins(path))["judge"].pin.id == "openai/x"


def test_an_unpinned_role_is_refused(tmp_path):
    path = written(tmp_path, "roles: {judge: sim/judge}\nmodels: {}\n")
    roles = read_roles(path, load_pins(path))
    with pytest.raises(BadInput, match="role auditor is not pinned"):
        require(roles, ("judge", "auditor"), str(path))


def test_every_fault_is_named_at_once(tmp_path):
    path = written(tmp_path, "roles: {juge: sim/judge, auditor: nobody/x}\nmodels: {}\n")
    with pytest.raises(BadInput) as caught:
        read_roles(path, load_pins(path))
    assert len(caught.value.lines) == 2
    assert "did you mean judge" in caught.value.lines[0]
    assert "nobody/x is not pinned" in caught.value.lines[1]


def test_roles_must_be_a_mapping(tmp_path):
    path = written(tmp_path, "roles: [sim/judge]\nmodels: {}\n")
    with pytest.raises(BadInput, match="must map roles"):
        read_roles(path, load_pins(path))
