"""Text as a reader sees it: what typography, look-alike letters and invisible characters hide.

Two texts that read the same must compare as the same, whatever script they are in and however they
were typed. `forms` gives the one or more readings of a text; words, identifiers and tags are looked
for in these.
"""

from __future__ import annotations

import unicodedata

_LOOKALIKES = {
    "A": "ΑАᎪᗅꓮ", "B": "ΒВᏴᗷꓐꞴ", "C": "СᏟⲤꓚ", "D": "Ꭰᗞᗪꓓ", "E": "ΕЕᎬꓰ", "F": "ϜᖴꓝꞘ",
    "G": "ԌᏀᏳꓖ", "H": "ΗНᎻᕼⲎꓧ", "I": "ΙІӀⲒꓲ", "J": "ͿЈᎫᒍꓙꞲ", "K": "ΚКᏦⲔꓗ", "L": "ᏞᒪⳐꓡ",
    "M": "ΜϺМᎷᗰⲘꓟ", "N": "ΝⲚꓠ",
    "O": "ΟОՕⲞꓳ", "P": "ΡРᏢᑭⲢꓑ", "Q": "Ԛ", "R": "ƦᎡᏒᖇꓣ", "S": "ЅՏᏕᏚꓢ", "T": "ΤТᎢⲦꓔ", "U": "Սᑌꓴ",
    "V": "ѴᏙᐯꓦ", "W": "ԜᎳᏔꓪ", "X": "ΧХⲬꓫꞳ", "Y": "ΥУҮᎩᎽⲨꓬ", "Z": "ΖᏃꓜ",
    "a": "ɑαаᴀ", "b": "ƄЬᏏᑲᖯʙв", "c": "сᴄⲥꮯ", "d": "ԁᏧᑯꓒᴅ", "e": "еҽꬲᴇε", "f": "ẝꞙꬵꜰ",
    "g": "ƍɡցᶃɢ",
    "h": "һհᏂʜн", "i": "ıɩɪιіᎥꙇꭵ", "j": "ϳјᴊ", "k": "κкᴋ", "l": "ƖǀӏʟⅬ", "m": "мᴍ", "n": "ոռɴη",
    "o": "οσоօᴏᴑⲟꬽ", "p": "ρрⲣᴘ", "q": "ԛգզ", "r": "гᴦⲅꭇꭈꮁʀ", "s": "ƽѕꜱꮪ", "t": "τтᴛ",
    "u": "ʋυսᴜꞟꭎꭒ",
    "v": "νѵᴠꮩ", "w": "ɯѡԝաᴡꮃω", "x": "хᕁᕽχ", "y": "ɣʏγуүᶌỿꭚ", "z": "ᴢꮓ",
    "<": "‹〈⟨❮˂ᐸ≺⧼", ">": "›〉⟩❯˃ᐳ≻⧽", "{": "❴", "}": "❵",
}  # fmt: skip
"""What looks like an ASCII character and is another one (after the confusables of UTS 39)."""

_AS_LATIN = {ord(c): plain for plain, others in _LOOKALIKES.items() for c in others}
_LINES = "\t\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029"
_STRETCH = "\u0640\u07fa\u180a"
"""Letters to Unicode that only lengthen the line between two others (Arabic, N'Ko, Mongolian)."""
_FILLERS = "\u115f\u1160\u3164\uffa0"
"""Letters to Unicode, blanks to the eye."""


class _Characters(dict[int, str | None]):
    """What stays of a character, found out once each; marks, controls and fillers do not."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        kind = unicodedata.category(character)
        self[code] = character
        if kind == "Nd":
            self[code] = str(unicodedata.decimal(character))
        elif character in _FILLERS + _STRETCH or (kind[0] == "M" or kind in ("Cf", "Cc")):
            self[code] = character if character in _LINES else None
        return self[code]


class _Gaps(dict[int, str]):
    """Invisible characters as gaps between words."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        hidden = character in _FILLERS or unicodedata.category(character) == "Cf"
        self[code] = " " if hidden else character
        return self[code]


_VISIBLE, _GAPS = _Characters(), _Gaps()


def visible(text: str) -> str:
    """`text` without what cannot be seen, in one spelling.

    Compatibility forms are unified (NFKD; full width, ligatures, styled letters), accents and other
    marks, soft hyphens, zero-width and control characters are dropped, digits of any script are 0
    to 9. Letter case and punctuation stay.
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKD", text).translate(_VISIBLE))


def forms(text: str) -> tuple[str, ...]:
    """The readings of `text`, the plain one (`visible`) first.

    Others stand beside it only where they differ: letters that look like Latin ones read as those,
    so that neither a disguised copy nor a change of letter case in genuine Greek or Cyrillic goes
    unseen; and invisible characters read as gaps between words.
    """
    if text.isascii():
        return (text,)
    shown = visible(text)
    spaced = visible(text.translate(_GAPS))
    found = (shown, spaced, shown.translate(_AS_LATIN), spaced.translate(_AS_LATIN))
    return tuple(dict.fromkeys(found))


def as_latin(text: str) -> str:
    """`visible` text with every look-alike read as the ASCII character it looks like."""
    return text if text.isascii() else visible(text).translate(_AS_LATIN)
