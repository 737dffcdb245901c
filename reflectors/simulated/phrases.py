"""Phrase parts of the simulated reflector: each topic in several constructions, each with choices.

`[a|b]` stands for one of its parts, which may be empty; the parts are drawn independently, so a
topic has hundreds of wordings. The words are this project's own.
"""

from __future__ import annotations

import re

from heldout.reflectors.simulated.topics import Topic
from heldout.splits.randomness import Part, choice

_CHOICE = re.compile(r"\[([^\[\]]*)\]")

PHRASES: dict[Topic, tuple[str, ...]] = {
    Topic.INVENTORY: (
        "[First|To begin with,|Before anything else,] [list|enumerate|write down] "
        "[every|each] [relevant|clinically relevant|medically relevant] "
        "[fact|finding] of the [transcript|consultation|conversation]; "
        "[then|only then|after that] [look for|search for|check] each [of them|one] in the note"
        "[|, one by one|, one at a time].",
        "[Draw up|Compile|Make] [an inventory|a complete inventory|a full inventory] of the facts "
        "[in the transcript|of the consultation|that were discussed], [and then|then] "
        "[go through it|work through it] [item by item|entry by entry|one item at a time] "
        "with the note [beside it|in hand|next to it].",
        "[Start by|Begin by] [listing|enumerating] [all|the] [facts|findings] "
        "[of the conversation|in the transcript|that the transcript holds], [and|then] "
        "[check|confirm|verify] [for each|of each|for every one] whether the note [has|holds|"
        "records] it[| before you think about a score].",
        "Before you [judge|score|rate] the note, [enumerate|list|itemise] [everything|all facts] "
        "that [patient and doctor|doctor and patient|the two speakers] said [of clinical weight|"
        "that matters for care|of medical relevance], and [tick off|check off|check] "
        "each [fact|item|point] [against|with] the note.",
    ),
    Topic.FINE_SCORE: (
        "[Give|State|Report|Write] [the|your] score [to|with] one decimal"
        "[| place][|, so that small differences show|, because small gaps must show"
        "|, so that two similar notes can be told apart].",
        "[Use|Score in|Grade in] tenths of a point[| instead of whole points| throughout"
        "| rather than whole points][|, so that even a small gap moves the score"
        "|, so that a single gap lowers the score].",
        "[Let|Make] [the|your] score [carry|show] one decimal[| place], [and|then] "
        "[take off|deduct] [a few tenths|some tenths|tenths] for [each|every] "
        "[small gap|lesser gap|minor gap].",
    ),
    Topic.VALUES: (
        "[Compare|Check|Verify] [every|each] [dose, duration and number|number, dose and date"
        "|figure, dose and side|dose, side and duration] in the note [with|against] "
        "[the transcript|the conversation|what was said][|, digit by digit|, exactly].",
        "[Make sure|Ensure|See to it] that [doses, numbers and sides|numbers, doses and durations"
        "|every number, dose and duration] [match|agree with] the [transcript|conversation]"
        "[| exactly| to the digit].",
        "[Treat|Count|Mark] a [changed|different|wrong] [dose, number or side|number, duration or "
        "dose|dose, duration or side] as [an error|wrong|a mistake]"
        "[|, however plausible it looks|, even where it looks plausible|, however small].",
    ),
    Topic.PARAPHRASE: (
        "[Accept|Allow] [paraphrases|a paraphrase], [abbreviations and synonyms|synonyms and "
        "abbreviations|abbreviations and converted units] [as captured|as recorded|as equivalent]"
        "[|, as long as the meaning is the same|, provided that the sense stays the same].",
        "[Count|Treat|Regard] a [fact|point|finding] in [other words|different words] as "
        "[captured|recorded|covered][| if the meaning is the same| when the sense is unchanged].",
        "[A paraphrase|An abbreviation|A synonym] [counts as|is] [captured|recorded|covered]"
        "[|, for the note need not repeat the speakers word for word"
        "|, because clinicians write in shorthand].",
    ),
    Topic.PARTIAL: (
        "[Do not|Never] [accept|settle for|be satisfied with] [a fragment|a partial mention|a bare "
        "mention][| of a fact][|: the detail has to be there|, the detail has to be there too].",
        "[Give|Award|Allow] only half [credit|the credit] [for|to] a [fact|finding] that has "
        "[lost a detail|lost its details|lost part of its detail].",
        "[Count|Treat|Mark] a [fact|finding] as [incomplete|only partially captured|not fully "
        "captured] when [only a fragment of it is left|just a bare mention is left"
        "|only part of it is left].",
        "A [fragment|partial mention|bare mention] of a [fact|finding] is not [full capture|enough]"
        "[|, even if the topic is there|, although the topic appears].",
    ),
    Topic.PLACEMENT: (
        "[Check|Require|Verify|Insist] that [each|every] [fact|finding] stands in [its own section"
        "|the section where it belongs|its proper section][|, wherever else it is told as well].",
        "A [restatement|repetition|mention] elsewhere does not [make up|compensate] for a gap in "
        "[the section where the fact belongs|the proper section|the right section].",
        "[Do not|Never] [accept|allow] a [restatement|repetition|mention] elsewhere [in place of"
        "|as a substitute for] an entry [under the right heading|in the right section"
        "|in the proper section].",
    ),
    Topic.POLARITY: (
        "[Compare|Check|Verify] [negatives and denials|every denial|every negative]"
        "[| and every degree of certainty| and each hedge] in the note [with|against] the "
        "[transcript|conversation|consultation].",
        "[Make sure|Ensure|See to it] that [each denial|every negative|each negative] stays a "
        "[denial|negative] and that [a suspected|a possible|a tentative] diagnosis [stays|remains] "
        "[tentative|uncertain|a possibility].",
        "[Count|Treat|Mark] a [flipped negative|reversed denial|turned negative|lost hedge] as "
        "[an error|a mistake|wrong][|, however short the word| even if nothing else is amiss].",
    ),
    Topic.UNSUPPORTED: (
        "[Look|Search|Check] [the note for|in the note for] [statements|claims] "
        "[without support in|that have no support in|that find no support in] the [transcript|"
        "conversation|consultation][|, and deduct for each|, and lower the score for each one].",
        "[Trace|Check] [every|each] [statement|claim|sentence] of the note [back to|against] "
        "the [transcript|conversation]; [deduct|take off points|lower the score] for "
        "[anything unsupported|unsupported content|invented content].",
        "[Deduct|Take off points|Lower the score] for [every|each] [statement|claim] that "
        "[was never said|nobody said|has no basis in the transcript|is invented].",
    ),
}
"""Constructions by topic."""

FILLERS: tuple[str, ...] = (
    "[Keep|Hold to|Stay in] a [calm|neutral|sober|professional] tone[| throughout].",
    "[Be|Stay] [fair|even-handed|impartial] to [the author|whoever wrote the note|the writer].",
    "[Write|Phrase] your assessment [briefly|in plain English|in short sentences].",
    "[Take your time|Work calmly|Stay attentive][| to the end| until the end].",
    "The [next clinician|reader|covering doctor] [relies on|trusts] this [record|note].",
    "[Patient safety|Safety|Care of the patient] comes [first|before style|before elegance].",
    "[Think|Reason] [step by step|carefully|with care] [before you answer|about your judgement].",
    "[Do not|Never] [reward|punish] [style|length|a fluent style|elegance].",
)
"""Sentences that sound useful and ask for no procedure: tone, brevity, reminders."""


def compose(pattern: str, *path: Part) -> str:
    """One wording of `pattern`, its parts drawn from `path`."""
    parts = iter(range(pattern.count("[")))
    text = _CHOICE.sub(lambda match: choice(match.group(1).split("|"), *path, next(parts)), pattern)
    return " ".join(text.split()).replace(" ,", ",").replace(" .", ".")


def sentence(topic: Topic, *path: Part) -> str:
    """A sentence that asks for `topic`, composed from `path`."""
    return compose(choice(PHRASES[topic], *path, "pattern"), *path)


def filler(*path: Part) -> str:
    """A sentence that asks for nothing in particular."""
    return compose(choice(FILLERS, *path, "pattern"), *path)
