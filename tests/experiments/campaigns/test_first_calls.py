"""Every connected model answers before held-out is looked at; what it refuses leaves nothing."""

from __future__ import annotations

import json

import pytest
import yaml
from tests.benchmarks.loopback import Answer, serving
from tests.soak.simulated_provider import Simulations, write_pins
from tests.support.campaigns import merged, resume_small, run_small

from heldout.gepa.record.journal import read_journal
from heldout.gepa.record.remarks import AnsweredEvent
from heldout.gepa.record.run import Run
from heldout.splits.errors import BadInput, CallRefused

BOTH = {"student": {"model": "openai/judge"}, "reflector": {"model": "openai/reflector"}}
QUICK = {
    "benchmark": {"synthetic": {"consultations": 12}},
    "search": {"iterations": 1},
    "retry": {"base_s": 0.01, "breaker_failures": 3, "breaker_s": 0.0, "deadline_s": 1.0},
}


class Server:
    """The simulated models; `status` is what the model called `refuses` says from `after` on."""

    def __init__(self, refuses="", status=401, after=0, said="no") -> None:
        self.refuses, self.status, self.after, self.said = refuses, status, after, said
        self.answer, self.asked = Simulations(), []

    def __call__(self, request) -> Answer:
        name = request.body["model"]
        self.asked.append(request.body)
        if name == self.refuses and len(self.asked) > self.after:
            headers = (("Location", "http://127.0.0.1:1/"),)
            body = json.dumps({"error": {"message": self.said}}).encode()
            return Answer(body, self.status, headers)
        return Answer(json.dumps(self.answer(request.body)).encode())


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    """Runs a small campaign against a server, by default with both models behind it."""
    monkeypatch.setenv("A_KEY", "none-needed")

    def run(server, changes=BOTH, change=None):
        with serving(server) as loopback:
            pins = tmp_path / "models.yaml"
            write_pins(pins, loopback.api_base, "A_KEY")
            if change is not None:
                change(pins)
            return run_small(tmp_path, merged({**QUICK, "models": str(pins)}, changes))

    return run


def left(folder):
    """What a start has left beside its configuration and pins."""
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".yaml")


@pytest.mark.parametrize(
    ("role", "status"),
    [("judge", status) for status in (400, 401, 403, 404, 422, 302, 307)] + [("reflector", 400)],
)
def test_what_a_model_will_never_answer_ends_the_start_and_leaves_nothing(
    tmp_path, campaign, role, status
):
    server = Server(role, status)
    with pytest.raises(BadInput, match="refused its first call") as caught:
        campaign(server)
    (line,) = caught.value.lines
    who = {"judge": "student openai/judge", "reflector": "reflector openai/reflector"}[role]
    assert line.startswith(who)
    assert str(status) in line or status < 400
    assert len(server.asked) == 2
    assert left(tmp_path) == []


def test_a_structure_that_the_reflector_does_not_take_is_told_at_the_start(tmp_path, campaign):
    class Plain(Server):
        def __call__(self, request):
            if "response_format" in request.body:
                said = {"error": {"message": "response_format is not supported"}}
                return Answer(json.dumps(said).encode(), 400)
            return super().__call__(request)

    def structured(pins):
        found = yaml.safe_load(pins.read_text())
        found["models"]["openai/reflector"]["structured"] = "json_object"
        pins.write_text(yaml.safe_dump(found))

    with pytest.raises(BadInput, match="response_format is not supported") as caught:
        campaign(Plain(), change=structured)
    assert caught.value.lines[0].startswith("reflector openai/reflector: refused its first call")
    assert left(tmp_path) == []


def test_both_models_that_refuse_are_told_at_once(tmp_path, campaign):
    class Closed(Server):
        def __call__(self, request):
            self.asked.append(request.body)
            said = json.dumps({"error": {"message": f"no {request.body['model']}"}}).encode()
            return Answer(said, 404)

    with pytest.raises(BadInput) as caught:
        campaign(Closed())
    assert [line.partition(":")[0] for line in caught.value.lines] == [
        "student openai/judge",
        "reflector openai/reflector",
    ]
    assert left(tmp_path) == []


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_may_pass_is_asked_again_and_can_be_resumed(tmp_path, campaign, status):
    ended = campaign(Server("judge", status))
    assert ended.exit_status == 4
    assert ended.run.looks == []
    assert (tmp_path / "run" / "journal.jsonl").is_file()


def test_the_first_calls_are_paid_and_stand_apart(tmp_path, campaign):
    server = Server()
    ended = campaign(server)
    assert ended.error is None
    judging, ready = server.asked[:2]
    assert {judging["model"], ready["model"]} == {"judge", "reflector"}
    events = read_journal(tmp_path / "run" / "journal.jsonl")
    (answered,) = [event.body for event in events if isinstance(event.body, AnsweredEvent)]
    assert [(a.role, a.spent.calls) for a in answered.models] == [("student", 1), ("reflector", 1)]
    run = Run.at(tmp_path / "run")
    assert run.budget.calls == len(server.asked) == run.calls.answered
    # Before any look: the first deterministic event comes after it.
    kinds = [event.kind for event in events]
    assert kinds.index("answered") < kinds.index("partition")


def test_only_connected_models_are_asked(campaign):
    server = Server()
    ended = campaign(server, {"reflector": {"model": "openai/reflector"}})
    assert ended.error is None
    assert server.asked[0]["messages"][0]["content"].endswith("ready")
    assert "the judge is a program (sim/judge)" in (ended.run.simulated_words or "")


def test_one_model_in_both_roles_at_one_budget_is_asked_once(campaign):
    budget = {"budget": {"max_tokens": 1500}}
    model = {"model": "openai/judge", "temperature": 0.7, **budget}
    server = Server()
    ended = campaign(server, {"student": model, "reflector": model, "search": {"iterations": 0}})
    assert ended.error is None
    assert not any(body["messages"][0]["content"].endswith("ready") for body in server.asked)
    assert ended.run.calls.answered == ended.run.budget.calls


def test_a_key_rejected_later_is_status_4_and_goes_on(tmp_path, campaign):
    server = Server("judge", 401, after=30)
    ended = campaign(server)
    assert isinstance(ended.error, CallRefused)
    assert (ended.exit_status, ended.run.finish_reason) == (4, "call_refused")
    server.refuses = ""
    before = len(server.asked)
    with serving(server) as loopback:
        write_pins(tmp_path / "models.yaml", loopback.api_base, "A_KEY")
        assert resume_small(tmp_path / "run").error is None
    ready = [b for b in server.asked[before:] if b["messages"][0]["content"].endswith("ready")]
    assert ready == []


def test_simulated_models_get_no_such_call(tmp_path):
    ended = run_small(tmp_path, {**QUICK, "search": {"iterations": 0}})
    kinds = [event.kind for event in ended.run.events]
    assert "answered" not in kinds


@pytest.mark.parametrize("value", [None, "  ", "key\n", "clé"])
def test_a_key_that_cannot_be_sent_is_one_line_and_no_request(
    tmp_path, campaign, monkeypatch, value
):
    """Through LiteLLM this was 129 requests, 45 s and a look on record."""
    if value is None:
        monkeypatch.delenv("A_KEY")
    else:
        monkeypatch.setenv("A_KEY", value)
    server = Server()
    with pytest.raises(BadInput, match="A_KEY") as caught:
        campaign(server)
    (line,) = caught.value.lines
    assert line.startswith("student openai/judge, reflector openai/reflector: ")
    assert (server.asked, left(tmp_path)) == ([], [])


def test_nothing_of_a_refused_start_is_in_mlflow(tmp_path, campaign):
    uri = f"sqlite:///{tmp_path}/mlflow.db"
    tracking = {"tracking": {"enabled": True, "uri": uri}}
    with pytest.raises(BadInput, match="refused its first call"):
        campaign(Server("judge"), {**BOTH, **tracking})
    assert yaml.safe_load((tmp_path / "campaign.yaml").read_text())["tracking"]["uri"] == uri
    assert not (tmp_path / "mlflow.db").exists()
