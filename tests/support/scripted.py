"""The scripted caller of the door, under the names that the tests use."""

from heldout.testing import ScriptedCaller
from heldout.testing import scripted_reply as reply

__all__ = ["ScriptedCaller", "reply"]
