"""The DSPy path against the native one. DSPy is imported here only."""

import asyncio
import json

import pytest

dspy = pytest.importorskip("dspy")

from dspy import lm15  # noqa: E402
from tests.support.answering import answer  # noqa: E402
from tests.support.notes import benchmark  # noqa: E402
from tests.support.scripted import ScriptedCaller  # noqa: E402

from heldout.students.calls.call import Stage  # noqa: E402
from heldout.students.designs.context import DesignContext, Roles  # noqa: E402
from heldout.students.designs.dspy_module import (  # noqa: E402
    FrameAdapter,
    JudgeModule,
    NoPlaceForDemonstrations,
    example,
)
from heldout.students.designs.roster import ROSTER, DesignGroup  # noqa: E402
from heldout.students.models.chat import Budget, ModelPin  # noqa: E402

NOTES = [note for consultation in benchmark(2) for note in consultation.notes]
JUDGES = [design for design in ROSTER if design.group is not DesignGroup.CONTROL]
BUDGET = Budget(1500, "low")
PIN = ModelPin("scripted/judge", temperature=0.3)


class Engine:
    """A DSPy engine that answers well or badly by the hash of what it is asked."""

    def __init__(self, reply):
        self.reply, self.requests = reply, []

    def complete(self, request):
        self.requests.append(request)
        text, finish = self.reply(request)
        part = lm15.TextPart(text=text)
        message = lm15.Message(role="assistant", parts=(part,))
        return lm15.Response(None, "scripted", message, finish, lm15.Usage(7, 3))


class AsyncEngine(Engine):
    async def complete(self, request):
        return Engine.complete(self, request)


class Asked:
    """What `answer` needs of a call."""

    def __init__(self, messages):
        self.messages = messages


class Said:
    def __init__(self, content):
        self.content = content


def well(text):
    return len(text) % 3 > 0


def engine_reply(request):
    text = request.messages[0].text
    return answer(Asked([Said(text)]), well=well(text)), "stop"


def native_reply(spec):
    return answer(spec, well=well(spec.messages[0].content))


def module_of(design, **more):
    return JudgeModule(
        lambda calls: design.build(DesignContext(Roles.all(PIN), calls, 11)),
        design.block,
        BUDGET,
        **more,
    )


def lm_of(reply=engine_reply):
    engine = Engine(reply)
    return dspy.LM("scripted", engine=engine, async_engine=AsyncEngine(reply), cache=False), engine


def native(design, note, sample=0):
    caller = ScriptedCaller(native_reply)
    student = design.build(DesignContext(Roles.all(PIN), caller, 11))
    return asyncio.run(student.judge(design.block, note, BUDGET, sample)), caller.asked


@pytest.mark.parametrize("design", JUDGES, ids=lambda design: design.name)
def test_the_model_gets_byte_for_byte_what_the_native_path_sends(design):
    lm, engine = lm_of()
    module = module_of(design)
    note = NOTES[1]
    with dspy.context(lm=lm):
        found = module(**example(note).inputs())
    expected, asked = native(design, note)
    sent = [[(m.role, m.text) for m in request.messages] for request in engine.requests]
    assert sent == [[(m.role, m.content) for m in spec.messages] for spec in asked]
    assert [r.config.seed for r in engine.requests] == [spec.seed for spec in asked]
    assert [r.config.max_tokens for r in engine.requests] == [
        spec.budget.max_tokens for spec in asked
    ]
    assert all(request.config.temperature == 0.3 for request in engine.requests)
    assert (found.score, found.flag, found.outcome) == (
        expected.score,
        expected.flag,
        str(expected.outcome),
    )
    assert found.assessment == expected.assessment


def tenth(gold, found, trace=None):
    return found.score / 10


PROPOSAL = """[[ ## proposed_instruction ## ]]
Look for gaps.

[[ ## proposed_prefix_for_output_field ## ]]
Score:

[[ ## completed ## ]]"""


def design_called(name):
    return next(design for design in ROSTER if design.name == name)


def test_the_instructions_are_the_block_and_the_adapter_renders_the_frame():
    design = design_called("whole_note")
    module = module_of(design)
    assert module.predict.signature.instructions == design.block == module.block
    adapter = FrameAdapter(module, NOTES[0])
    changed = module.predict.signature.with_instructions("Another block {{note}}.")
    [message] = adapter.format(changed, [], {})
    student = design.build(DesignContext(Roles.all(PIN), ScriptedCaller(str), 11))
    assert message == {
        "role": "user",
        "content": student.frame.render(
            {
                "transcript": NOTES[0].transcript,
                "note": NOTES[0].text,
                "block": "Another block {{note}}.",
            }
        ),
    }


def test_evaluate_runs_on_it_unchanged():
    design = design_called("whole_note")
    lm, engine = lm_of()
    evaluate = dspy.Evaluate(
        devset=[example(note) for note in NOTES],
        metric=tenth,
        num_threads=2,
        display_progress=False,
    )
    with dspy.context(lm=lm):
        result = evaluate(module_of(design))
    expected = [native(design, note)[0].score / 10 for note in NOTES]
    assert [score for *_, score in result.results] == expected
    assert 0 < sum(expected) < len(expected)
    assert len(engine.requests) == len(NOTES)


def test_an_optimiser_of_instructions_runs_on_it_and_changes_only_the_block():
    design = design_called("whole_note")

    def reply(request):
        text = request.messages[-1].text
        if "<answer_format>" not in text:
            proposal = {
                "proposed_instruction": "Look for gaps.",
                "proposed_prefix_for_output_field": "",
            }
            body = "\n\n".join(f"[[ ## {key} ## ]]\n{value}" for key, value in proposal.items())
            return f"{body}\n\n[[ ## completed ## ]]", "stop"
        good = "Look for gaps." in text
        return json.dumps({"score": 10 if good else 1}), "stop"

    lm, engine = lm_of(reply)
    with dspy.context(lm=lm):
        optimiser = dspy.COPRO(
            metric=tenth,
            breadth=2,
            depth=1,
            init_temperature=1.0,
        )
        best = optimiser.compile(
            module_of(design),
            trainset=[example(note) for note in NOTES[:3]],
            eval_kwargs={"num_threads": 1, "display_progress": False, "display_table": 0},
        )
    assert best.block == "Look for gaps."
    frames = {
        request.messages[0].text.split("<answer_format>")[-1]
        for request in engine.requests
        if "<answer_format>" in request.messages[0].text
    }
    assert len(frames) == 1


def test_reflective_optimisation_runs_on_it():
    def reply(request):
        text = request.messages[-1].text
        if "<answer_format>" not in text:
            return json.dumps({"new_instruction": "Look for gaps."}), "stop"
        return json.dumps({"score": 10 if "Look for gaps." in text else 1}), "stop"

    def metric(gold, found, trace=None, pred_name=None, pred_trace=None):
        return dspy.Prediction(score=found.score / 10, feedback="A fact is missing.")

    lm, _ = lm_of(reply)
    with dspy.context(lm=lm):
        optimiser = dspy.GEPA(
            metric=metric,
            reflection_lm=lm,
            max_metric_calls=16,
            reflection_minibatch_size=2,
            num_threads=1,
            seed=0,
        )
        best = optimiser.compile(
            module_of(design_called("whole_note")),
            trainset=[example(note) for note in NOTES[:4]],
            valset=[example(note) for note in NOTES[4:8]],
        )
    assert best.block == "Look for gaps."


def test_facts_are_bought_once_a_module_and_consultation():
    lm, engine = lm_of()
    module = module_of(design_called("three_stage"))
    with dspy.context(lm=lm):
        for note in NOTES:
            module(**example(note).inputs())
    prompts = [request.messages[0].text for request in engine.requests]
    assert sum('{"facts": [' in prompt for prompt in prompts) == 2


def test_failures_are_predictions_without_a_score():
    module = module_of(design_called("whole_note"))
    for text, finish, outcome, requests in [
        ("nothing", "stop", "contract_violation", 2),
        ("noth", "length", "truncated", 1),
        ("-", "content_filter", "refused", 1),
    ]:
        lm, engine = lm_of(lambda _, text=text, finish=finish: (text, finish))
        with dspy.context(lm=lm):
            found = module(**example(NOTES[0]).inputs())
        assert (found.score, found.flag, found.outcome) == (None, None, outcome)
        assert len(engine.requests) == requests


def test_the_asynchronous_path_gives_the_same():
    design = design_called("per_fact_checker")
    lm, _ = lm_of()

    async def run():
        with dspy.context(lm=lm):
            return await module_of(design).acall(**example(NOTES[3]).inputs())

    assert asyncio.run(run()).score == native(design, NOTES[3])[0].score


def test_it_runs_where_an_event_loop_runs_already():
    design = design_called("whole_note")
    lm, _ = lm_of()

    async def notebook():
        with dspy.context(lm=lm):
            return module_of(design)(**example(NOTES[0]).inputs())

    assert asyncio.run(notebook()).score == native(design, NOTES[0])[0].score


def test_samples_have_seeds_of_their_own():
    design = design_called("whole_note")
    lm, engine = lm_of()
    with dspy.context(lm=lm):
        for sample in (0, 1):
            module_of(design, sample=sample)(**example(NOTES[0]).inputs())
    assert [request.config.seed for request in engine.requests] == [
        native(design, NOTES[0], sample)[1][0].seed for sample in (0, 1)
    ]


def test_gold_data_is_no_input():
    held = example(NOTES[1])
    assert set(held.inputs().keys()) == {"transcript", "note", "item", "consultation", "siblings"}
    assert held.label == NOTES[1].label


def test_demonstrations_are_refused():
    module = module_of(design_called("whole_note"))
    module.predict.demos = [{"transcript": "t", "note": "n", "score": 3.0}]
    lm, _ = lm_of()
    with dspy.context(lm=lm), pytest.raises(NoPlaceForDemonstrations, match="1 demonstration"):
        module(**example(NOTES[0]).inputs())


def test_a_block_that_dspy_would_reindent_is_refused():
    design = design_called("whole_note")
    for block in ("Steps:\n  1. read\n  2. judge", " padded"):
        with pytest.raises(ValueError, match="indentation"):
            JudgeModule(
                lambda calls: design.build(DesignContext(Roles.all(PIN), calls, 1)), block, BUDGET
            )


def test_every_stage_of_a_pipeline_reaches_the_model():
    _, asked = native(design_called("three_stage"), NOTES[1])
    assert {Stage.EXTRACT, Stage.AUDIT, Stage.CHECK} <= {spec.stage for spec in asked}
