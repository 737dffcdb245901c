"""Transcripts as recorders and recognisers write them: WebVTT, SRT, Whisper's JSON, plain text.

Each becomes one turn a line, `[speaker] words` where the file names who speaks; consecutive
captions of one speaker are one turn. Times are left out.
"""

from __future__ import annotations

import html
import io
import json
import re
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from heldout.splits.errors import BadInput
from heldout.splits.loading.encodings import as_utf8
from heldout.splits.loading.text_files import InputFile, read_input, whole_text

SUFFIXES = (".txt", ".vtt", ".srt", ".json")
"""Names of transcript files end in one of these; where several are there the first is read."""

_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]*)>")
_TAG = re.compile(r"</?(?:[bciuv]|lang|ruby|rt|font)(?:[\s.][^<>]*)?>|<[\d:.]+>", re.IGNORECASE)


class _Spoken(NamedTuple):
    speaker: str
    words: str


def read_transcript(path: Path, encoding: str | None = None) -> str:
    """The transcript in the file at `path`. Raises BadInput where it holds none."""
    return transcript_text(read_input(path), encoding)


def transcript_text(file: InputFile, encoding: str | None = None) -> str:
    """The transcript in `file`. Raises BadInput where it holds none."""
    if file.kind == ".txt" and encoding is None:
        return whole_text(file)
    text = whole_text(as_utf8(file, encoding))
    if file.kind == ".txt":
        return text
    spoken = _whisper(file.path, text) if file.kind == ".json" else _captions(file, text)
    lines = [
        f"[{speaker}] {words}" if speaker else words
        for speaker, said in groupby(spoken, lambda one: one.speaker)
        for words in ([" ".join(s.words for s in said)] if speaker else [s.words for s in said])
    ]
    if not lines:
        raise BadInput.one(str(file.path), "holds no spoken words")
    return "\n".join(lines)


def _whisper(path: Path, text: str) -> list[_Spoken]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput.one(str(path), f"not JSON: {error}") from None
    segments = value.get("segments", [value]) if isinstance(value, dict) else value
    if not isinstance(segments, list):
        raise BadInput.one(str(path), "segments: a list is needed, as Whisper writes it")
    found = []
    for number, segment in enumerate(segments):
        words = segment.get("text") if isinstance(segment, dict) else None
        if not isinstance(words, str):
            raise BadInput.one(str(path), f"segments[{number}].text: text is needed")
        speaker = segment.get("speaker")
        found.append(_Spoken(speaker if isinstance(speaker, str) else "", words))
    return _clean(found)


def _captions(file: InputFile, text: str) -> list[_Spoken]:
    from webvtt import WebVTT  # noqa: PLC0415  # read where a file of it is
    from webvtt.errors import MalformedCaptionError, MalformedFileError  # noqa: PLC0415

    kind = file.kind.removeprefix(".")
    try:
        captions = WebVTT.from_buffer(io.StringIO(text), format=kind, strict=True)
    except (MalformedCaptionError, MalformedFileError, ValueError) as error:
        what = {"vtt": "WebVTT", "srt": "SRT"}[kind]
        raise BadInput.one(str(file.path), f"is no {what}: {error}") from None
    return _clean(one for caption in captions.captions for one in _voices(caption.raw_text))


def _voices(raw: str) -> Iterable[_Spoken]:
    """What one caption says: the words behind each tag `<v name>`, and those before the first."""
    first, *rest = _VOICE.split(raw)
    yield _Spoken("", first)
    yield from (_Spoken(name, words) for name, words in zip(rest[::2], rest[1::2], strict=True))


def _clean(spoken: Iterable[_Spoken]) -> list[_Spoken]:
    plain = (
        _Spoken(one.speaker.strip(), html.unescape(" ".join(_TAG.sub("", one.words).split())))
        for one in spoken
    )
    return [one for one in plain if one.words]
