"""`heldout doctor`: what mends each fault, and a ping that says what came back."""

from __future__ import annotations

import json

import pytest
from tests.benchmarks.loopback import Answer, completion, serving
from tests.soak.simulated_provider import write_pins
from tests.support.campaigns import write_config
from typer.testing import CliRunner

from heldout.experiments.cli.main import app

BOTH = {"student": {"model": "openai/judge"}, "reflector": {"model": "openai/reflector"}}


def doctor(*arguments: object):
    return CliRunner().invoke(app, ["doctor", *map(str, arguments)])


@pytest.fixture
def ping(tmp_path):
    """Pings both models of a campaign; the server's answer is given."""

    def pinged(answer, *options):
        asked = []

        def respond(request):
            asked.append(request.body)
            return answer(request)

        with serving(respond) as loopback:
            write_pins(tmp_path / "models.yaml", loopback.api_base)
            changes = {**BOTH, "models": str(tmp_path / "models.yaml")}
            return doctor(write_config(tmp_path, changes), "--ping", *options), asked

    return pinged


def test_every_check_is_a_line_and_every_fault_has_a_remedy(tmp_path):
    config = write_config(
        tmp_path, {"budget": {"calls": 3}, "partition": {"exclude": ["none.txt"]}}
    )
    found = doctor(config)
    assert found.exit_code == 2
    lines = found.stdout.splitlines()
    assert lines[0] == f"ok     configuration: {config}, campaign small"
    assert "waits  caps: waits for what is wrong above" in lines
    assert sum(line.startswith("fault ") for line in lines) == 1
    assert sum("remedy: " in line for line in lines) == 1
    assert lines[-1] == "1 fault"
    told = json.loads(doctor(config, "--json").stdout)
    assert told["ok"] is False
    assert {check["state"] for check in told["checks"]} == {"ok", "waits", "fault"}


def test_a_configuration_that_cannot_be_read_is_the_only_fault(tmp_path):
    found = doctor(write_config(tmp_path, {"serach": {}}))
    assert found.exit_code == 2
    assert found.stdout.splitlines()[0] == "fault  configuration"


def test_a_ping_says_latency_tokens_served_model_and_finish(ping):
    answer = json.dumps(completion("ready", model="judge-2025"))
    found, asked = ping(lambda _: Answer(answer.encode()))
    assert found.exit_code == 0
    assert {body["model"] for body in asked} == {"judge", "reflector"}
    (line,) = [x for x in found.stdout.splitlines() if x.startswith("ok     ping student")]
    assert " tokens read, " in line
    assert line.endswith("served judge-2025, finish stop")


def test_a_ping_that_is_refused_is_a_fault(ping):
    found, asked = ping(lambda _: Answer(b'{"error": {"message": "no such key"}}', 401))
    assert found.exit_code == 2
    assert len(asked) == 2
    assert "auth: status 401" in found.stdout


def test_nothing_is_sent_where_no_call_could_be_made(ping):
    found, asked = ping(lambda _: Answer(b"{}"), "--set", "student.model=openai/nobody")
    assert found.exit_code == 2
    assert asked == []
