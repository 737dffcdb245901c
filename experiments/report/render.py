"""Templates into pages: everything escaped, nothing loaded from anywhere, one script at most.

A page carries a content security policy that allows its own script by hash and nothing else, so
that a text which slipped through the escaping would still do nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from heldout.experiments.report.candidates import note_name
from heldout.experiments.report.text import fenced, markdown, one_line
from heldout.experiments.report.words import interval_text, number, percent, signed
from heldout.splits.visible import visible


def render(template: str, **values: Any) -> str:
    """The page that `templates/<template>` makes of `values`."""
    text = _environment(template.removesuffix(".j2").endswith(".html"))
    return text.get_template(template).render(values)


def page(template: str, *, script: str = "", **values: Any) -> str:
    """An HTML page with the common style and, by name, one script of `templates/`."""
    source = _read(script) if script else ""
    digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
    allowed = f"'sha256-{digest}'" if script else "'none'"
    # The style sheet and the script are files of this package, not data.
    return render(
        template,
        style=Markup(_read("style.css")),
        script=Markup(source),
        policy=(
            f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {allowed}"
        ),
        **values,
    )


def embedded_json(value: Any) -> Markup:
    """JSON that may stand inside a script element whatever texts it holds."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


@cache
def _read(name: str) -> str:
    path = resources.files("heldout.experiments.report") / "templates" / name
    return path.read_text(encoding="utf-8")


@cache
def _environment(html: bool) -> Environment:
    environment = Environment(
        loader=FunctionLoader(_read),
        autoescape=html,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_finalize,
    )
    environment.filters |= {
        "fenced": fenced,
        "interval": interval_text,
        "md": markdown,
        "note_name": note_name,
        "number": number,
        "one_line": one_line,
        "percent": percent,
        "signed": signed,
    }
    return environment


def _finalize(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
