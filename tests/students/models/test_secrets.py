import pytest

from heldout.students.models.secrets import MASK, looks_secret, redact, redactor


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "api_key",
        "apikey",
        "HF_TOKEN",
        "client_secret",
        "PGPASSWORD",
        "x.password",
    ],
)
def test_names_that_hold_secrets(name):
    assert looks_secret(name)


@pytest.mark.parametrize("name", ["top_p", "monkey", "max_tokens", "keyboard", "tokenizer"])
def test_names_that_hold_none(name):
    assert not looks_secret(name)


def test_values_of_the_environment_are_masked_wherever_they_stand(monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "orchid-7781-plain")
    monkeypatch.setenv("OTHER_TOKEN", "orchid-7781-plain-and-longer")
    said = redact("a orchid-7781-plain-and-longer b orchid-7781-plain c")
    assert said == f"a {MASK} b {MASK} c"


def test_short_values_are_left_alone(monkeypatch):
    monkeypatch.setenv("PUBLIC_KEY", "score")
    assert redact("score 7") == "score 7"


@pytest.mark.parametrize(
    "value",
    [
        "sk-proj-abcdefghijklmnop1234567890",
        "gsk_abcdefghijklmnop1234567890",
        "AIzaSyA1234567890abcdefghijk",
        "ghp_abcdefghijklmnopqrstuvwx12",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def",
    ],
)
def test_shapes_of_keys_are_masked(value):
    assert value not in redact(f"Incorrect API key provided: {value}.")
    assert value not in redact(f"Authorization: Bearer {value}")


@pytest.mark.parametrize(
    "text",
    [
        "the patient asked for a sick note, risk-assessment-completed-today",
        "task-oriented follow-up of hypertension",
        '{"score": 7, "assessment": "nothing missing"}',
    ],
)
def test_clinical_text_is_left_alone(text):
    assert redactor()(text) == text
