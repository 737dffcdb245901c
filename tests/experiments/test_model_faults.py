"""What a configuration may not say about models, found before anything is sent or written."""

import pytest
import yaml

from heldout.experiments.campaigns.running import prepare, resume, start
from heldout.experiments.campaigns.session import RunOptions
from heldout.splits.errors import BadInput

HOSTED = ("student.model=openai/gpt-5", "reflector.model=sim/reflector", "tracking.enabled=false")


@pytest.fixture
def checked(tmp_path, pytestconfig):
    def check(*settings, models=None):
        entries = {"openai/gpt-5": {}, "local": {"model": "openai/x", "api_base": "http://h/v1"}}
        pins = tmp_path / "models.yaml"
        pins.write_text(yaml.safe_dump({"models": models or entries}))
        config = pytestconfig.rootpath / "configs" / "ranks_only.yaml"
        return prepare(config, [f"models={pins}", *settings], tmp_path / "run")

    return check


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("student.parameters={api_key: abc}", r"parameters\.api_key: looks like a secret"),
        ("reflector.parameters={extra_headers: {a: b}}", r"extra_headers: looks like a secret"),
        ("student.parameters={seed: 3}", r"parameters\.seed: is set by Heldout"),
        ("store.url=postgresql+psycopg://me:hush@h/db", r"store\.url: holds a password"),
        ("student.model=openai/gpt-6", r"gpt-6 is not pinned.*did you mean openai/gpt-5"),
    ],
)
def test_faults_found_before_anything_is_written(checked, tmp_path, setting, said):
    with pytest.raises(BadInput, match=said) as caught:
        checked(setting)
    assert "hush" not in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_a_hosted_model_without_a_price_has_litellms(checked):
    found = checked(*HOSTED, "budget.usd=1000")
    assert found.student.pin.usd_per_million_prompt > 0
    assert found.student.priced_on.startswith("LiteLLM")


def test_a_usd_cap_beside_a_price_nobody_knows_is_refused(checked):
    with pytest.raises(BadInput, match=r"student\.model openai/x: its price is unknown"):
        checked("student.model=local", "budget.usd=5")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (("student.temperature=0.5",), r"student openai/gpt-5: .*temperature"),
        (
            ("student.temperature=1", "student.budget={max_tokens: 900, reasoning_effort: none}"),
            r"student openai/gpt-5: .*none.*nearest is 'minimal'",
        ),
        (
            ("student.model=local", "student.budget={max_tokens: 900, reasoning_effort: low}"),
            r"student openai/x: whether it takes reasoning_effort 'low' is not known",
        ),
    ],
)
def test_what_a_model_does_not_take_is_refused_and_the_directory_removed(
    checked, tmp_path, settings, said
):
    found = checked(*HOSTED, *settings)
    with pytest.raises(BadInput, match=said):
        start(found, tmp_path / "run", RunOptions(quiet=True))
    assert not (tmp_path / "run").exists()


def test_roles_have_caps_of_their_own(checked, tmp_path):
    found = checked(
        "benchmark.synthetic.consultations=16",
        "budget.reflector.calls=2",
        "search.iterations=8",
        "tracking.enabled=false",
    )
    ended = start(found, tmp_path / "run", RunOptions(quiet=True))
    assert ended.exit_status == 3
    assert "budget.reflector.calls = 2" in str(ended.error)
    with pytest.raises(BadInput, match=r"budget\.reflector\.calls: may only be raised"):
        resume(tmp_path / "run", ["budget.reflector.calls=1"], RunOptions(quiet=True))
    with pytest.raises(
        BadInput, match=r"budget\.student\.calls: may only be raised, it was no cap"
    ):
        resume(tmp_path / "run", ["budget.student.calls=1"], RunOptions(quiet=True))
    raised = resume(tmp_path / "run", ["budget.reflector.calls=40"], RunOptions(quiet=True))
    assert raised.exit_status == 0


def test_a_usd_cap_of_a_role_needs_the_prices_of_that_role_alone(checked):
    with pytest.raises(BadInput, match=r"student.*budget\.student\.usd = 5 cannot be kept"):
        checked("student.model=local", "budget.student.usd=5")
    with pytest.raises(BadInput, match=r"budget\.retry\.usd = 5 cannot be kept"):
        checked("student.model=local", "budget.retry.usd=5")
    assert checked("student.model=local", "budget.reflector.usd=5").student.pin.id == "openai/x"
