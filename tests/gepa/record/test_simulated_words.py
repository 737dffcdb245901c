"""What is simulated is said model by model."""

import pytest

from heldout.gepa.record.summary import SIMULATED, SIMULATED_JUDGE, simulated_tag, simulated_words


@pytest.mark.parametrize(
    ("models", "words", "tag"),
    [
        ({}, None, ""),
        ({"judge": "openai/x", "reflector": "openai/y"}, None, ""),
        ({"judge": "sim/judge", "reflector": "sim/reflector"}, SIMULATED, "simulated models"),
        ({"judge": "sim/placebo"}, SIMULATED_JUDGE, "simulated model"),
        (
            {"judge": "openai/x", "reflector": "sim/reflector"},
            "the reflector is a program (sim/reflector); the judge is openai/x",
            "simulated reflector",
        ),
        (
            {"judge": "sim/judge", "reflector": "openai/x"},
            "the judge is a program (sim/judge); the reflector is openai/x; "
            "no figure here is about a real one",
            "simulated judge",
        ),
        (
            {
                "judge": "a/b",
                "extractor": "sim/judge",
                "auditor": "sim/judge",
                "second_look": "a/b",
            },
            "the extractor and the auditor are one program (sim/judge); "
            "the judge and the second look are a/b",
            "simulated extractor and auditor",
        ),
    ],
)
def test_what_is_simulated_is_said_model_by_model(models, words, tag):
    assert simulated_words(models) == words
    assert simulated_tag(models) == tag
