"""What sends the requests of an exported judge, and what becomes of those that fail, in words."""

from __future__ import annotations

from collections.abc import Mapping

ENDPOINT = (
    "Requests go to `JUDGE_BASE_URL` and nowhere else: a redirect is a fault, and neither key nor "
    "note is sent to the second host. Timeouts, dropped connections, 429 and 5xx are asked again, "
    "waiting as long as the endpoint says, for at most `JUDGE_DEADLINE_S` seconds a call (600 "
    "where it is not set). What lasts (a rejected key, a wrong address, a redirect) is told at "
    "once, and then nothing more is sent. At most {body} MB of a reply are read, unpacked."
)
CLIENTS: Mapping[str, str] = {
    "dspy": "Requests are sent by DSPy's own `dspy.LM`, and what that does holds: it asks again up "
    "to `num_retries` times (3 where you give none), and the client under it may follow redirects, "
    "so give it the address itself. An error that is left is raised by the call.",
    "mlflow-judge": f"{ENDPOINT} A row without a reply has a feedback with an error, its code "
    "`unanswered`; the others are judged.",
    "inspect": "Requests are sent by Inspect's model API, and what that does holds: its retries "
    "(`--max-retries`, `--timeout`), and the client of its provider, which for OpenAI-compatible "
    "endpoints follows redirects, so give it the address itself. A sample whose request fails for "
    "good is an error of that sample (`--fail-on-error`).",
    "promptfoo": f"{ENDPOINT} A test without a reply is an error of the provider; the others are "
    "judged.",
    "python": f"{ENDPOINT} A row without a reply has status `unanswered` and the reason, a line "
    "that cannot be judged `unreadable`. Exit status 4 says that some got no reply, 2 that nothing "
    "could be read.",
}
"""By target."""

READING = (
    "Thoughts are taken off a reply before it is read. One that breaks its contract (two different "
    "verdicts, or a last one that cannot be read, too) is asked for once more, saying what was "
    "wrong; then the note has no score and the status `contract_violation`. A reply that ends at "
    "the token cap without an answer is `truncated`, one that a content filter stopped `refused`."
)


def sending(target: str, body_bytes: int) -> tuple[str, ...]:
    """Paragraphs for the README of an export."""
    return (CLIENTS[target].format(body=f"{body_bytes / 1e6:g}"), "", READING)
