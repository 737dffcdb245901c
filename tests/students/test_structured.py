"""Schemas and grammars derived from contracts: what goes out with a call and what comes back."""

import asyncio
import json
from dataclasses import replace

import pytest
from tests.support.notes import benchmark
from tests.support.scripted import ScriptedCaller

from heldout.reflectors.reply import BlockContract
from heldout.students.answer_forms import GapListContract, VerdictLineContract, YesNoContract
from heldout.students.calls.call import CallSpec, Stage
from heldout.students.calls.completion import ask_keyed
from heldout.students.contracts import ScoreContract, Violation
from heldout.students.designs.audit import GRADES
from heldout.students.designs.checker import QUOTES
from heldout.students.designs.combined import StatementsContract
from heldout.students.designs.context import DesignContext, Roles
from heldout.students.designs.roster import ROSTER, DesignGroup
from heldout.students.fact_contracts import FactsContract, KeyedContract
from heldout.students.models.chat import Budget, Message, ModelPin, Structured
from heldout.students.structured import FIELDS, constrained, grammar, score, without_lengths

ASKED = ("aa11bb22", "cc33dd44")
JSON = (Message("user", "Answer with a JSON object."),)
PIN = ModelPin("openai/m", structured=Structured.JSON_SCHEMA, bounded=True)
ONE = {
    "score": ScoreContract(),
    "one to five": ScoreContract(1, 5),
    "yes or no": YesNoContract(),
    "verdict": VerdictLineContract(),
    "gaps": GapListContract(),
    "facts": FactsContract(),
    "items": FactsContract("items"),
    "placed facts": FactsContract(placed=True),
    "statements": StatementsContract(),
    "block": BlockContract(3000),
}
KEYED = {
    "verdicts": KeyedContract("verdicts", ("present", "absent")),
    "grades": GRADES,
    "quotes": QUOTES,
}
CONTRACTS = ONE | {name: contract.of(ASKED) for name, contract in KEYED.items()}


def shortest(schema, longest=False):
    """The shortest value that a schema of ours allows, or the longest."""
    if "enum" in schema:
        return schema["enum"][-1 if longest else 0]
    kind = schema["type"]
    if isinstance(kind, list):
        return "x" * schema["maxLength"] if longest else None
    if kind == "string":
        return "x" * schema["maxLength" if longest else "minLength"]
    if kind == "array":
        count = schema["maxItems" if longest else "minItems"]
        return [shortest(schema["items"], longest) for _ in range(count)]
    return {name: shortest(inner, longest) for name, inner in schema["properties"].items()}


@pytest.mark.parametrize("longest", [False, True])
@pytest.mark.parametrize("tokens", [60, 300, 8000])
@pytest.mark.parametrize("name", CONTRACTS)
def test_whatever_a_schema_allows_its_contract_reads(name, tokens, longest):
    value = shortest(CONTRACTS[name].schema(tokens), longest)
    text = json.dumps(value)
    if name in KEYED:
        assert KEYED[name].parse(text, ASKED).unanswered == ()
    else:
        assert not isinstance(ONE[name].parse(text), Violation)
    # Texts are of four characters a token and more; a list of one entry is always allowed.
    assert len(text) / 4 < max(tokens, 150)


@pytest.mark.parametrize("name", CONTRACTS)
def test_every_object_of_a_schema_is_strict(name):
    def objects(schema):
        if isinstance(schema, dict):
            if schema.get("type") == "object":
                yield schema
            for inner in schema.values():
                yield from objects(inner)

    for found in objects(CONTRACTS[name].schema(300)):
        assert found["additionalProperties"] is False
        assert found["required"] == list(found["properties"])


def test_hosted_endpoints_get_no_lengths():
    text = json.dumps(without_lengths(FactsContract().schema(300)))
    assert "Length" not in text
    assert "Items" not in text
    assert '"evidence"' in text


def test_scores_are_tenths_of_their_range():
    assert score(1, 5)["enum"][:3] == [1, 1.1, 1.2]
    assert score(0, 10)["enum"][-1] == 10
    assert len(score(0, 10)["enum"]) == 101


def test_a_grammar_is_written_as_llama_cpp_reads_it():
    rules = grammar(YesNoContract().schema(60)).splitlines()
    assert rules[0] == (
        r'root ::= "{" gap "\"assessment\"" ":" gap "\"" string-char{0,20} "\"" '
        r'"," gap "\"answer\"" ":" gap ("\"yes\"" | "\"no\"") gap "}"'
    )
    assert [rule.partition(" ")[0] for rule in rules] == ["root", "string-char", "gap"]
    assert '"null"' in grammar(QUOTES.of(ASKED).schema(60))
    assert "{0,0}" in grammar(FactsContract().schema(60))


def test_the_form_that_goes_out_is_the_pins():
    contract = ScoreContract()
    sent = constrained(PIN, contract, JSON, 300).parameters["response_format"]
    assert sent["json_schema"] == {
        "name": "answer",
        "strict": True,
        "schema": contract.schema(300),
    }
    hosted = constrained(replace(PIN, bounded=False), contract, JSON, 300)
    assert "maxLength" not in json.dumps(hosted.parameters)
    ruled = constrained(replace(PIN, structured=Structured.GRAMMAR), contract, JSON, 300)
    assert ruled.parameters == {"grammar": grammar(contract.schema(300))}
    plain = constrained(replace(PIN, structured=Structured.JSON_OBJECT), contract, JSON, 300)
    assert plain.parameters == {"response_format": {"type": "json_object"}}


def test_an_object_is_asked_for_only_where_the_prompt_speaks_of_json():
    pin = replace(PIN, structured=Structured.JSON_OBJECT)
    words = (Message("user", "End with VERDICT: PASS or VERDICT: FAIL."),)
    assert constrained(pin, VerdictLineContract(), words, 300) == pin


@pytest.mark.parametrize(
    "by_hand", [{"response_format": {"type": "text"}}, {"grammar": "root ::= x"}]
)
def test_what_is_written_by_hand_stays(by_hand):
    pin = replace(PIN, parameters=by_hand)
    assert constrained(pin, ScoreContract(), JSON, 300) is pin


def test_a_pin_without_structure_asks_as_before():
    pin = replace(PIN, structured=Structured.NONE)
    assert constrained(pin, ScoreContract(), JSON, 300) is pin


def test_the_structure_is_part_of_the_key_and_a_pin_without_it_keeps_its_keys():
    def key(pin):
        return CallSpec(Stage.JUDGE, "n", JSON, pin, Budget(300), seed=1).key

    plain = ModelPin("openai/m")
    told = {
        key(constrained(replace(plain, structured=s), ScoreContract(), JSON, 300))
        for s in Structured
    }
    assert len(told) == 4
    assert key(plain) in told


@pytest.mark.parametrize(
    "design", [d for d in ROSTER if d.group is not DesignGroup.CONTROL], ids=lambda d: d.name
)
def test_every_call_of_every_design_says_what_its_answer_looks_like(design):
    """The answer is then made from what was sent, and is read without a violation."""

    def fill(spec):
        sent = spec.pin.parameters["response_format"]["json_schema"]["schema"]
        assert set(spec.pin.parameters) & FIELDS == {"response_format"}
        return json.dumps(shortest(sent, longest=True))

    caller = ScriptedCaller(fill)
    student = design.build(DesignContext(Roles.all(PIN), caller, 11))
    note = benchmark(1).consultations[0].clean[0]
    judged = asyncio.run(student.judge("Look at everything.", note, Budget(1500), 0))
    assert {spec.attempt for spec in caller.asked} == {0}
    if judged.assessment != "the audit dropped every fact":
        assert judged.outcome == "ok"


def test_ids_asked_again_are_the_only_ones_of_the_second_schema():
    asked = []

    def fill(spec):
        schema = spec.pin.parameters["response_format"]["json_schema"]["schema"]
        asked.append(list(schema["properties"]["verdicts"]["properties"]))
        first = spec.attempt == 0
        return json.dumps({"verdicts": dict.fromkeys(asked[-1][: 1 if first else None], "absent")})

    spec = CallSpec(Stage.CHECK, "n", JSON, PIN, Budget(300), seed=1)
    read = asyncio.run(ask_keyed(ScriptedCaller(fill), spec, KEYED["verdicts"], ASKED, 11))
    assert read.value == dict.fromkeys(ASKED, "absent")
    assert asked == [list(ASKED), [ASKED[1]]]
