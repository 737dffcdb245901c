import pytest

from heldout.reflectors.simulated.lessons import lessons
from heldout.reflectors.simulated.reading import Case
from heldout.reflectors.simulated.topics import Topic


def case(edit="removed", fact="Allergic to penicillin.", ranking="tied", **kwargs):
    defaults = {"failed": True, "trace": "complete", "severity": "supporting"}
    return Case(edit=edit, fact=fact, ranking=ranking, **{**defaults, **kwargs})


def strongest(*cases, asked=frozenset(), per_fact=False):
    weights = lessons(cases, asked, per_fact=per_fact)
    return max(weights, key=weights.__getitem__)


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (case(), Topic.INVENTORY),
        (case(trace="partial-strong"), Topic.PLACEMENT),
        (case(edit="added", trace=None), Topic.UNSUPPORTED),
        (case(edit="altered", fact="dose 21 mg altered to 42 mg", trace=None), Topic.VALUES),
        (case(edit="altered", fact="Denies fever, now has fever", trace=None), Topic.POLARITY),
    ],
)
def test_a_failure_speaks_for_the_procedure_that_would_have_seen_it(failure, expected):
    assert strongest(failure) is expected


def test_a_lost_detail_speaks_for_strictness_and_for_values_if_it_is_one():
    weak = lessons([case(trace="partial-weak", fact="or if worse")], frozenset(), per_fact=False)
    dose = lessons([case(trace="partial-weak", fact="5 mg")], frozenset(), per_fact=False)
    assert weak[Topic.PARTIAL] > weak[Topic.VALUES]
    assert dose[Topic.VALUES] > weak[Topic.VALUES]


def test_ties_speak_for_a_finer_score_and_inversions_for_tolerance():
    tied = lessons([case()], frozenset(), per_fact=False)
    above = lessons([case(ranking="above")], frozenset(), per_fact=False)
    assert Topic.FINE_SCORE in tied
    assert Topic.FINE_SCORE not in above
    assert above[Topic.PARAPHRASE] > tied[Topic.PARAPHRASE]


def test_what_the_block_asks_for_already_weighs_less():
    failures = [case(), case()]
    assert strongest(*failures, asked=frozenset({Topic.INVENTORY})) is Topic.FINE_SCORE


def test_severity_counts():
    critical = lessons([case(severity="critical")], frozenset(), per_fact=False)
    peripheral = lessons([case(severity="peripheral")], frozenset(), per_fact=False)
    assert critical[Topic.INVENTORY] > peripheral[Topic.INVENTORY]


def test_a_judge_with_a_list_needs_no_inventory():
    assert strongest(case(fact="No fever."), per_fact=True) not in (
        Topic.INVENTORY,
        Topic.FINE_SCORE,
    )


def test_what_went_well_teaches_nothing():
    assert lessons([case(failed=False, ranking="below")], frozenset(), per_fact=False) == {}
    assert lessons([], frozenset(), per_fact=False) == {}
