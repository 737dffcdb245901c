"""The configuration: strict, every fault at once, each with its file, line and key."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.campaigns import write_config

from heldout.experiments.campaigns.running import resolved_yaml
from heldout.experiments.runs.config_file import load_config
from heldout.splits.errors import BadInput


def faults(path: Path, *settings: str) -> list[str]:
    with pytest.raises(BadInput) as caught:
        load_config(path, settings)
    return list(caught.value.lines)


def test_a_good_configuration_loads_with_its_defaults(tmp_path: Path) -> None:
    config = load_config(write_config(tmp_path))
    assert config.baseline_name == "plain"
    assert config.gate.rule == "studentised"
    assert config.gate.alpha == 0.025
    assert config.search.clean_weight == 0.1
    assert config.partition.shares.reflect == 0.40
    assert config.store.reuse == "off"


def test_the_resolved_configuration_is_the_same_configuration(tmp_path: Path) -> None:
    config = load_config(write_config(tmp_path))
    resolved = tmp_path / "resolved.yaml"
    resolved.write_text(resolved_yaml(config))
    assert load_config(resolved) == config


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"serach": {}}, "serach: unknown key; did you mean search?"),
        ({"search": {"iteration": 3}}, "search.iteration: unknown key; did you mean iterations?"),
        ({"gate": {"rul": "point"}}, "gate.rul: unknown key; did you mean rule?"),
        ({"student": {"budget": {"max_token": 3}}}, "unknown key; did you mean max_tokens?"),
        (
            {"search": {"iterations": -1}},
            "search.iterations: input should be greater than or equal",
        ),
        ({"gate": {"alpha": 0.7}}, "gate.alpha: input should be less than 0.5"),
        (
            {"gate": {"rule": "magic"}},
            "gate.rule: should be studentised, interval, bootstrap, permutation, point or package",
        ),
        ({"seeds": []}, "seeds: "),
        ({"seeds": [{"name": "a", "text": "  "}]}, "the seed block is empty"),
        ({"baseline": "nobody"}, "baseline 'nobody' is not a seed; seeds: plain, values"),
        ({"seeds": ["absent.txt"]}, "absent.txt: No such file or directory"),
        ({"partition": {"shares": {"reflect": 0.9}}}, "shares sum to 1.5, they must sum to 1"),
        ({"benchmark": {"pairs": "x.jsonl"}}, "give either pairs or synthetic"),
        ({"name": "../escape"}, "name: "),
    ],
)
def test_a_fault_names_its_place_and_what_would_be_right(tmp_path, changes, expected) -> None:
    lines = faults(write_config(tmp_path, changes))
    assert any(expected in line for line in lines), lines
    assert all(str(tmp_path) in line for line in lines)


def test_every_fault_is_reported_at_once(tmp_path: Path) -> None:
    lines = faults(
        write_config(
            tmp_path, {"serach": {}, "gate": {"alpha": 2}, "student": {"budget": {"max_tokens": 0}}}
        )
    )
    assert len(lines) == 3


def test_faults_carry_the_line_of_the_key(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("name: x\nseed: 1\nserach: {}\n")
    assert any(line.startswith(f"{path}:3: serach: unknown key") for line in faults(path))


def test_required_keys_are_named(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("name: x\n")
    missing = {line.split(": ")[1] for line in faults(path) if line.endswith("is required")}
    assert missing == {"seed", "benchmark", "student", "reflector", "seeds"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "must be a mapping"),
        ("- a\n- b\n", "must be a mapping"),
        ("a: [1\n", "is not YAML"),
        ("name: x\nname: y\n", "c.yaml:2: name: is given twice (first in line 1)"),
        ("a: &x [*x]\n", ""),
        ("\t- x", "is not YAML"),
    ],
)
def test_files_that_are_no_configuration(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(text)
    assert any(expected in line for line in faults(path))


def test_unreadable_files_are_faults(tmp_path: Path) -> None:
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00name: x")
    assert "is not UTF-8" in faults(tmp_path / "binary.yaml")[0]
    assert "No such file" in faults(tmp_path / "absent.yaml")[0]
    assert "Is a directory" in faults(tmp_path)[0]


@given(text=st.text(max_size=60))
def test_any_text_gives_a_configuration_or_faults(tmp_path_factory, text: str) -> None:
    path = tmp_path_factory.mktemp("c") / "c.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    assert faults(path)


def test_set_goes_over_the_file(tmp_path: Path) -> None:
    config = load_config(
        write_config(tmp_path),
        ["seed=9", "search.iterations=2", "budget.usd=1.5", "gate.rule=point"],
    )
    assert (config.seed, config.search.iterations) == (9, 2)
    assert (config.budget.usd, config.gate.rule) == (1.5, "point")


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("seed", "is not of the form key=value"),
        ("=3", "is not of the form key=value"),
        ("search..iterations=3", "is not of the form key=value"),
        ("serach.iterations=3", "--set serach.iterations"),
        ("name.x=3", "name is a value, it has no keys of its own"),
        ("seed=[", "is not a YAML value"),
    ],
)
def test_a_bad_set_is_named(tmp_path: Path, setting: str, expected: str) -> None:
    lines = faults(write_config(tmp_path), setting)
    assert any(expected in line or "serach: unknown key" in line for line in lines), lines


def test_the_data_folder_is_a_fault_only_where_a_value_needs_it(tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("HELDOUT_DATA", raising=False)
    path = write_config(
        tmp_path, {"benchmark": {"synthetic": None, "pairs": "${HELDOUT_DATA}/p.jsonl"}}
    )
    assert "needs the environment variable HELDOUT_DATA" in faults(path)[0]
    config = load_config(path, ["benchmark.pairs=elsewhere.jsonl"])
    assert config.benchmark.pairs == Path.cwd() / "elsewhere.jsonl"
    monkeypatch.setenv("HELDOUT_DATA", "/data")
    assert load_config(path).benchmark.pairs == Path("/data/p.jsonl")


def test_relative_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    path = write_config(tmp_path, {"benchmark": {"synthetic": None, "pairs": "p.jsonl"}})
    assert load_config(path).benchmark.pairs == tmp_path / "p.jsonl"
    path = write_config(tmp_path, {"looks": {"registry": "looks.jsonl"}})
    assert load_config(path).looks.registry == tmp_path / "looks.jsonl"


@pytest.mark.parametrize(
    "text",
    [
        "seed: 2024-13-45", "seed: !!int abc", "seed: !!bool abc", "seed: !!timestamp abc",
        "seed: !foo x", "seed: =", "seed: <<", "seed: " + "9" * 5000, "models:", "seed:", "? ",
    ],
)  # fmt: skip
def test_odd_values_are_faults_of_their_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "c.yaml"
    path.write_text(f"name: x\n{text}\n")
    assert faults(path)


@pytest.mark.parametrize(
    "setting",
    [
        "seed=2024-13-45", "seed=!!int abc", "seed=true", "seed='7'", "concurrency='4'",
        "search.iterations=true", "budget.usd=.inf", "search.clean_weight=.nan",
        "search.stop_usd=.inf", f"confirm.samples={10**400}", f"seed={10**30}",
        "student.budget.max_tokens=9223372036854775808",
    ],
)  # fmt: skip
def test_values_that_no_run_could_use_are_faults(tmp_path: Path, setting: str) -> None:
    assert any(
        setting.split("=", maxsplit=1)[0] in line
        for line in faults(write_config(tmp_path), setting)
    )


def test_off_is_a_word_and_not_false(tmp_path: Path) -> None:
    path = write_config(tmp_path)
    assert load_config(path, ["gate.pre_gate=off"]).gate.pre_gate == "off"
    path.write_text(path.read_text().replace("gate:\n", "gate:\n  pre_gate: off\n"))
    config = load_config(path)
    assert config.gate.pre_gate == "off"
    resolved = tmp_path / "resolved.yaml"
    resolved.write_text(resolved_yaml(config))
    assert load_config(resolved).gate.pre_gate == "off"


def test_aliases_cannot_blow_a_small_file_up(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 9)]
    path.write_text("\n".join(lines))
    assert "too deep or too large" in faults(path)[0]


def test_faults_survive_the_way_from_a_worker_process() -> None:
    error = BadInput.one("file:3", "is wrong")
    assert pickle.loads(pickle.dumps(error)).lines == error.lines
