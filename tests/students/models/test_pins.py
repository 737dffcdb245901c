import textwrap

import pytest

from heldout.splits.errors import BadInput
from heldout.students.models.chat import Budget
from heldout.students.models.pins import ClientKind, effort_faults, load_pins, nearest_effort
from heldout.students.models.pins_file import parameter_faults

GOOD = """
models:
  openai/gpt-5:
    efforts: [minimal, low, medium, high]
    parameters: {verbosity: low}
    prices: {prompt: 1.25, completion: 10, cached: 0.125, date: 2025-08-07}
  judge:
    model: openai/smollm2
    temperature: 0.5
    api_base: http://127.0.0.1:8080/v1
    key_env: LOCAL_API_KEY
  bare/model:
"""


@pytest.fixture
def pins_file(tmp_path):
    def write(text):
        path = tmp_path / "models.yaml"
        path.write_text(textwrap.dedent(text))
        return path

    return write


def test_a_file_of_pins(pins_file):
    pins = load_pins(pins_file(GOOD))
    gpt, judge, bare = (pins.find(n, "x") for n in ("openai/gpt-5", "judge", "bare/model"))
    assert (gpt.client, gpt.priced_on, gpt.efforts) == (
        ClientKind.LITELLM,
        "2025-08-07",
        ("minimal", "low", "medium", "high"),
    )
    assert (gpt.pin.usd_per_million_cached, gpt.pin.parameters) == (0.125, {"verbosity": "low"})
    assert (judge.client, judge.pin.id, judge.pin.temperature) == (
        ClientKind.DIRECT,
        "openai/smollm2",
        0.5,
    )
    assert (judge.api_base, judge.key_env) == ("http://127.0.0.1:8080/v1", "LOCAL_API_KEY")
    assert not bare.pin.priced
    assert gpt.pin.priced


@pytest.mark.parametrize("name", ["sim/judge", "sim/reflector", "sim/placebo"])
def test_simulated_models_are_pinned_and_known_to_be_free(name):
    model = load_pins(None).find(name, "student.model")
    assert model.client is ClientKind.SIMULATED
    assert model.pin.priced
    assert model.pin.usd_per_million_completion == 0


def test_a_model_that_is_not_pinned_is_refused_with_a_suggestion(pins_file):
    pins = load_pins(pins_file(GOOD))
    with pytest.raises(BadInput, match=r"student\.model: .*not pinned.*did you mean openai/gpt-5"):
        pins.find("openai/gpt5", "student.model")
    with pytest.raises(BadInput, match=r"known: .*sim/judge"):
        load_pins(None).find("zzz", "reflector.model")


def test_every_fault_of_a_file_is_told_with_its_line(pins_file):
    path = pins_file(
        """
        models:
          openai/a:
            temprature: 1
            prices: {prompt: -1, completion: 2}
          openai/b:
            parameters: {api_key: abc, seed: 4}
          plain:
            temperature: 1
          openai/c:
            door: direct
        """
    )
    with pytest.raises(BadInput) as caught:
        load_pins(path)
    lines = caught.value.lines
    text = "\n".join(lines)
    assert f"{path}:4: models.openai/a.temprature" in text
    assert "did you mean temperature?" in text
    assert f"{path}:5: models.openai/a.prices.prompt" in text
    assert f"{path}:5: models.openai/a.prices.date" in text
    assert "parameters.api_key: looks like a secret" in text
    assert "parameters.seed: is set by Heldout" in text
    assert f"{path}:8: models.plain: a model id is <provider>/<model>" in text
    assert "door: direct needs an api_base" in text
    assert len(lines) == 7


def test_a_key_that_stands_twice_is_a_fault_and_not_the_last_price(pins_file):
    path = pins_file(
        """
        models:
          openai/a:
            prices:
              prompt: 1
              completion: 2
              prompt: 9
              date: 2025-08-07
          openai/b: {}
          openai/a: {}
        """
    )
    with pytest.raises(BadInput) as caught:
        load_pins(path)
    assert caught.value.lines == (
        f"{path}:7: models.openai/a.prices.prompt: is given twice (first in line 5)",
        f"{path}:10: models.openai/a: is given twice (first in line 3)",
    )


def test_pins_may_share_what_they_have_in_common(pins_file):
    path = pins_file(
        """
        models:
          one: &local {model: openai/x, api_base: "http://127.0.0.1:1/v1", temperature: 0}
          two: {<<: *local, temperature: 1}
        """
    )
    pins = load_pins(path)
    assert [pins.find(name, "x").pin.temperature for name in ("one", "two")] == [0, 1]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"models:\n  openai/a:\n\ttemperature: 1\n", 3),
        (b"models:\n  openai/a:\n   temperature: 1\n  cap_field: x\n y: 1\n", 5),
        (b"models:\n  openai/a:\n    key_env: caf\xe9\n", 3),
        (b"models:\n  openai/a:\n    prices: {prompt: 1, completion: 1, date: 2025-02-30}\n", 3),
    ],
)
def test_the_form_of_a_file_is_faulted_by_line(tmp_path, text, line):
    path = tmp_path / "models.yaml"
    path.write_bytes(text)
    with pytest.raises(BadInput) as caught:
        load_pins(path)
    assert caught.value.lines[0].startswith(f"{path}:{line}: ")


def test_one_id_may_not_mean_two_endpoints(pins_file):
    path = pins_file(
        """
        models:
          one: {model: openai/x, api_base: "http://127.0.0.1:1/v1"}
          two: {model: openai/x, api_base: "http://127.0.0.1:2/v1"}
        """
    )
    with pytest.raises(BadInput, match=r"models\.two: asks for openai/x at another endpoint"):
        load_pins(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2]", "must hold `models`"),
        ("models: 3", "must hold `models`"),
        ("models: {}\nother: 1", "must hold `models`"),
        ("models: {a: [", "not YAML"),
        ("", "must hold `models`"),
    ],
)
def test_files_that_are_no_pins(pins_file, text, said):
    with pytest.raises(BadInput, match=said):
        load_pins(pins_file(text))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(BadInput, match="cannot be read"):
        load_pins(tmp_path / "absent.yaml")


@pytest.mark.parametrize(
    ("parameters", "good"),
    [
        ({"top_p": 0.9, "response_format": {"type": "json_object"}}, True),
        ({"extra_body": {"provider": {"order": ["a"]}}}, True),
        ({"extra_headers": {"x": "y"}}, False),
        ({"extra_body": {"token": "abc"}}, False),
        ({"note": "sk-abcdefghijklmnop1234567890"}, False),
        ({"max_tokens": 5}, False),
    ],
)
def test_parameters_hold_no_secrets_and_nothing_a_call_sets(parameters, good):
    assert (not list(parameter_faults(parameters, "x"))) == good


def test_an_effort_that_is_not_taken_is_refused_with_the_nearest_and_never_replaced(pins_file):
    pins = load_pins(pins_file(GOOD))
    gpt, judge = pins.find("openai/gpt-5", "x"), pins.find("judge", "x")
    (fault,) = effort_faults(gpt, Budget(100, "none"), "student.model")
    assert "openai/gpt-5: does not take reasoning_effort 'none'" in str(fault)
    assert "the nearest is 'minimal'" in str(fault)
    assert effort_faults(gpt, Budget(100, "high"), "student.model") == []
    assert effort_faults(gpt, Budget(100), "student.model") == []
    # An endpoint of one's own says nothing about itself before it is asked.
    (fault,) = effort_faults(judge, Budget(100, "low"), "student.model")
    assert "models.judge.efforts" in str(fault)
    simulated = pins.find("sim/judge", "x")
    assert effort_faults(simulated, Budget(100, "high"), "student.model") == []


def test_the_nearest_effort():
    assert nearest_effort("none", ["low", "high"]) == "low"
    assert nearest_effort("max", ["low", "high"]) == "high"
    assert nearest_effort("minimal", ["none", "low"]) == "none"
    assert nearest_effort("turbo", ["none", "low"]) is None
    assert nearest_effort("low", []) is None
