"""The encoding of a table's bytes: stated, marked, or the only one that makes sense of them.

Legacy encodings of one byte a letter read each other's texts without an error, so one of them is
taken only where no other gives a different text that reads as words; else a person is asked.
"""

from __future__ import annotations

import codecs
from dataclasses import replace

from charset_normalizer import from_bytes

from heldout.splits.errors import BadInput
from heldout.splits.loading.text_files import InputFile

OPTION = "--encoding"
SAY_WHICH = f"say what it is with {OPTION}"

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LEGACY = ["cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "gb18030", "big5", "cp932", "euc_kr"]
_MOST_CHAOS, _LEAST_COHERENCE = 0.1, 0.3
_SAMPLE = 1 << 16


def as_utf8(file: InputFile, asked: str | None = None) -> InputFile:
    """`file` with its text as UTF-8, read in the encoding `asked` for or the one that is found.

    Bytes of a UTF-8 file that are damaged stay as they are; whoever reads the rows names them.
    Raises BadInput for an encoding that is unknown or does not fit, and where none is found.
    """
    if asked is not None:
        return _decoded(file, asked)
    data = file.data
    marked = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    if marked is not None and marked != "utf-8":
        return _decoded(file, marked)
    if wide := _wide(data):
        return _decoded(file, wide)
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        if b"\0" in data or _mostly_utf8(data):
            return file
        return _decoded(file, _legacy(file, error))
    return file


def _decoded(file: InputFile, encoding: str) -> InputFile:
    try:
        name = codecs.lookup(encoding).name
        text = file.data.decode(name)
    except LookupError:
        raise BadInput.one(OPTION, f"{encoding!r} is no text encoding") from None
    except UnicodeError as error:
        start = getattr(error, "start", 0)
        line = file.data.count(b"\n", 0, start) + 1
        raise BadInput.one(f"{file.path}:{line}", f"is not {encoding}: {error}") from None
    return replace(file, data=text.removeprefix("\ufeff").encode("utf-8"), encoding=name)


def _wide(data: bytes) -> str | None:
    """UTF-16 without a mark: in Western text every second byte is NUL."""
    sample = data[:_SAMPLE]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if 3 * max(even, odd) < len(sample[1::2]) or 10 * min(even, odd) > max(even, odd):
        return None
    return "utf-16-be" if even > odd else "utf-16-le"


def _mostly_utf8(data: bytes) -> bool:
    """True where most letters are sound UTF-8: then the rest is damage, no other encoding.

    A few bytes of Shift-JIS or GBK make a letter of UTF-8 by chance.
    """
    letters = [sign for sign in data.decode("utf-8", "surrogateescape") if not sign.isascii()]
    return sum("\udc80" <= sign <= "\udcff" for sign in letters) < len(letters) / 2


def _legacy(file: InputFile, error: UnicodeDecodeError) -> str:
    found = from_bytes(file.data, cp_isolation=_LEGACY)
    fitting = [m for m in found if m.chaos <= _MOST_CHAOS and m.coherence >= _LEAST_COHERENCE]
    names = [_usual(match.could_be_from_charset) for match in fitting]
    if len(names) == 1:
        return names[0]
    line = file.data.count(b"\n", 0, error.start) + 1
    perhaps = names or [_usual(match.could_be_from_charset) for match in found][:2] or ["cp1252"]
    message = f"is not UTF-8; {SAY_WHICH}, for example {' or '.join(perhaps)}"
    raise BadInput.one(f"{file.path}:{line}", message)


def _usual(names: list[str]) -> str:
    return next((name for name in _LEGACY if name in names), names[0])
