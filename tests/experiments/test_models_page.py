"""What docs/models.md shows is what the product takes."""

import re

import pytest
import yaml
from typer.testing import CliRunner

from heldout.experiments.cli.main import app
from heldout.experiments.runs.config import Config
from heldout.students.calls.retry import Retry
from heldout.students.models.pins import ClientKind, load_pins


@pytest.fixture(scope="module")
def page(pytestconfig):
    return (pytestconfig.rootpath / "docs" / "models.md").read_text()


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def test_the_pins_examples_load(page, tmp_path):
    found = {}
    for text in (block for block in blocks(page, "yaml") if block.startswith("models:")):
        (tmp_path / "models.yaml").write_text(text)
        found |= load_pins(tmp_path / "models.yaml").models
    assert found["openai/gpt-5"].client is ClientKind.LITELLM
    assert found["mine"].client is ClientKind.DIRECT
    assert found["old"].pin.dialect.omit == ("seed",)


def test_the_retry_example_shows_the_defaults(page):
    (text,) = [block for block in blocks(page, "yaml") if block.startswith("retry:")]
    assert Retry(**yaml.safe_load(text)["retry"]) == Retry() == Config.model_fields["retry"].default


def test_every_command_and_option_is_there(page):
    lines = [line for block in blocks(page, "console") for line in block.splitlines()]
    shown = [line.split("#")[0].split() for line in lines if line.startswith("heldout ")]
    assert len(shown) >= 4
    for words in shown:
        depth = 2 if words[1] == "store" else 1
        said = CliRunner().invoke(app, [*words[1 : 1 + depth], "--help"])
        assert said.exit_code == 0
        assert all(word in said.stdout for word in words if word.startswith("--"))


def test_files_and_tests_that_the_pages_name_exist(pytestconfig, page):
    text = page + (pytestconfig.rootpath / "docs" / "reliability.md").read_text()
    named = set(re.findall(r"`((?:tests|configs)/[\w./]+)`|\]\(\.\./([\w./]+)\)", text))
    paths = [first or second for first, second in named]
    assert len(paths) > 4
    for path in paths:
        assert (pytestconfig.rootpath / path).is_file(), path
