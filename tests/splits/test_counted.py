import ast
from pathlib import Path

from heldout.splits.counted import counted

ROOT = Path(__file__).parents[2]


def test_one_is_singular():
    assert [counted(n, "note") for n in (0, 1, 2)] == ["0 notes", "1 note", "2 notes"]
    assert counted(1, "mass", "masses") == "1 mass"
    assert counted(3, "mass", "masses") == "3 masses"


def test_no_message_leaves_the_plural_to_the_reader():
    folders = ("splits", "students", "reflectors", "gepa", "experiments")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*.py")]
    texts = {file.name: ast.parse(file.read_text("utf-8")) for file in files}
    left = [
        f"{name}: {node.value}"
        for name, tree in texts.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and "(s)" in str(node.value)
    ]
    assert left == []
