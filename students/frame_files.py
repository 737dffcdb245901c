"""A user's own prompt as a frame: a text file with slots, pinned by its SHA-256."""

from __future__ import annotations

from pathlib import Path

from heldout.splits.errors import BadInput, Fault
from heldout.splits.hashing import sha256_text
from heldout.students.frames import Frame


def load_frame_file(path: Path, sha256: str, like: Frame) -> Frame:
    """The frame in `path`, which must fill the same slots in the same order as `like`.

    `sha256` is that of the file's text, lower-case. Raises BadInput with every fault: unreadable,
    another text than the one pinned, a slot missing, unknown, repeated or out of order.
    """
    try:
        template = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput.one(str(path), f"cannot be read as UTF-8 text: {error}") from error
    frame = Frame(path.stem, template)
    faults = []
    if frame.sha256 != sha256:
        faults.append(
            Fault(str(path), f"its SHA-256 is {sha256_text(template)}, pinned is {sha256}")
        )
    if frame.slots != like.slots:
        wanted = ", ".join(f"{{{{{slot}}}}}" for slot in like.slots)
        faults.append(Fault(str(path), f"must hold each of {wanted} once, in this order"))
    if faults:
        raise BadInput(faults)
    return frame
