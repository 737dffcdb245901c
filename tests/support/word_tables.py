"""What can be wrong with a word table."""

import re
from importlib import resources


def faults(table, package, templates=()):
    """Entries that no module of `package` names, placeholders left over, patterns that fail.

    Word lists are patterns of a plain kind; the entries `templates` are none.
    """
    modules = (file for file in resources.files(package).iterdir() if file.name.endswith(".py"))
    source = "\n".join(file.read_text(encoding="utf-8") for file in modules)
    unused = [f"{name}: unused" for name in table.entries if f'"{name}"' not in source]
    patterns = {name: entry for name, entry in table.entries.items() if name not in templates}
    return unused + [fault for text in scalars(patterns) for fault in of_text(text)]


def scalars(tree):
    """Every scalar of a tree."""
    if isinstance(tree, str):
        return [tree]
    branches = tree.values() if isinstance(tree, dict) else tree
    return [text for branch in branches for text in scalars(branch)]


def of_text(text):
    """What is wrong with one scalar."""
    if re.search(r"\{[A-Za-z_]", text):
        yield f"{text}: a placeholder is left"
    try:
        re.compile(text)
    except re.error as error:
        yield f"{text}: {error}"
