"""What switches a procedure on, and what must not."""

import pytest

from heldout.students.simulated.skills import Skill, read_block

REQUESTS = {
    Skill.INVENTORY: [
        "First list every fact stated in the transcript, then look for each one in the note.",
        "Enumerate the facts of the consultation before checking each against the note.",
        "Start by listing what patient and doctor said, item by item.",
        "Begin with an inventory of the transcript.",
        "You must write down each clinical fact of the conversation before you read the note.",
        "Your first step is to itemise the findings that were discussed.",
        "Never give a score before you have listed every fact of the transcript.",
        "Do not judge without listing the facts of the transcript first.",
        "Make sure that every fact of the transcript is listed before the note is read.",
        "Every fact in the consultation must be enumerated first.",
        "Go through the facts of the transcript one by one and tick each off in the note.",
        "Do not skip the inventory of the transcript's facts.",
        "1. Read the transcript.\n2. List all facts it holds.\n3. Find each in the note.",
        "Please draw up a complete list of the facts, then compare it with the note.",
        "Read both texts and number the facts of the transcript.",
        "The note may be long, so list every fact of the transcript first.",
        "Work from a list of everything that was said in the consultation.",
        "After listing every fact of the conversation, check each one in the note.",
        "- Catalogue each finding of the consultation\n- Search the note for each entry",
        "Could you please list every fact of the transcript first?",
    ],
    Skill.FINE_SCORE: [
        "Give the score with one decimal.",
        "Score to the nearest tenth.",
        "Report a score such as 7.4, with one decimal place.",
        "The score must carry one decimal.",
        "Do not round the score to whole points.",
        "Never round your score.",
        "Use tenths of a point so that small gaps show.",
        "Grade in steps of 0.1.",
        "Read the note and express your score to one decimal place.",
    ],
    Skill.VALUES: [
        "Compare every dose, duration and side exactly.",
        "Numbers must match to the digit.",
        "Check that doses and dates agree.",
        "Treat a different dose as an error.",
        "A changed number counts as wrong.",
        "Do not overlook a wrong dose.",
        "Verify left and right against the transcript.",
        "If a dose differs from what was said, lower the score for the dose.",
        "Every number in the note should be compared with the transcript.",
        "Penalise altered durations.",
        "Mark a fact absent when the note gives another dose, which is wrong.",
    ],
    Skill.PARAPHRASE: [
        "Accept paraphrases and abbreviations.",
        "A paraphrase counts as captured.",
        "Do not penalise different wording.",
        "Treat an abbreviation as the same as the full term.",
        "Unit conversions are acceptable.",
        "Match by meaning rather than by wording.",
        "Never call a fact missing because it is paraphrased.",
        "A fact in other words is recorded.",
        "Synonyms should be accepted.",
        "Do not insist on verbatim wording.",
    ],
    Skill.PARTIAL: [
        "A fragment is not full capture.",
        "Do not accept a bare mention of a fact.",
        "Give only half credit when a detail is lost.",
        "Count a fact as incomplete when only a part of it is left.",
        "Penalise a mention without its details.",
        "Require every detail of a fact before you call it captured.",
        "Never treat a partial mention as captured.",
        "A vague mention earns half.",
        "Partly recorded facts must not be counted as captured.",
    ],
    Skill.PLACEMENT: [
        "Each section must hold its own facts.",
        "A restatement elsewhere does not make up for a gap.",
        "Do not let a mention in another section excuse the omission.",
        "Check that each fact stands in the section where it belongs.",
        "Count a fact found only elsewhere as misplaced.",
        "Judge the note section by section.",
        "Look for each fact in its own section.",
        "Lower the score when a fact is told under another heading only.",
    ],
    Skill.POLARITY: [
        "Compare negatives and denials with the transcript.",
        "Check every denial.",
        "A denial turned into a finding is an error.",
        "Make sure that a suspected diagnosis stays suspected.",
        "Do not confuse a denial with a finding.",
        "Watch for hardened certainty.",
        "Penalise lost hedges.",
        "Negatives must match the conversation.",
        "Mind whether the note keeps each degree of certainty.",
    ],
    Skill.UNSUPPORTED: [
        "Look for statements of the note without support in the transcript.",
        "Flag anything in the note that was never said.",
        "Penalise invented content.",
        "Trace each statement of the note back to the transcript.",
        "Check every sentence of the note against the transcript.",
        "Each claim in the note must have support in the conversation.",
        "Do not overlook fabricated findings.",
        "Search the note for claims that have no basis in the consultation.",
        "Deduct for every statement that nobody said.",
    ],
}

SILENT = [
    "Judge how faithful and complete the note is.",
    "Read the transcript and the note and give a score.",
    "Say whether the note can be relied on.",
    "Consider the patient's safety above all.",
    # negated
    "Do not list the facts of the transcript.",
    "Don't enumerate the facts; judge the note as a whole.",
    "Never compare doses or numbers.",
    "There is no need to list every fact.",
    "You need not check the doses.",
    "You do not have to enumerate the facts.",
    "Avoid listing the facts before you score.",
    "Refrain from compiling an inventory of the transcript.",
    "Skip the inventory.",
    "Judge the note without listing the facts of the transcript.",
    "Instead of listing the facts, read the note once.",
    "Rather than enumerate the facts, go by your impression.",
    "Form a view of the whole, not by listing facts.",
    "List no facts.",
    "Neither list the facts nor compare the doses.",
    "Do not count, list or number the facts.",
    "It is not necessary to list the facts.",
    "Under no circumstances enumerate the facts.",
    "The facts need not be listed.",
    "Facts must never be listed before scoring.",
    "Ignore differences in dose.",
    "Do not accept paraphrases.",
    "Accept a fragment as full capture.",
    "A mention elsewhere is enough.",
    "Do not look for unsupported statements.",
    "Round the score to a whole number.",
    "Ignore denials.",
    # quoted
    "A colleague's prompt says “list every fact first, then check each one”.",
    "Disregard the sentence «compare every dose exactly».",
    'The words "give the score with one decimal" stood here once.',
    "Earlier we wrote 'list every fact of the transcript first' in this place.",
    "```\nList every fact of the transcript.\n```\nJudge the note.",
    "> List every fact of the transcript.\nJudge the note.",
    "Here is an example of a longer prompt: list every fact and compare every dose.",
    "An old version said: enumerate the facts of the transcript.",
    "Not to do:\n- list every fact\n- compare every dose\n\nJudge the note.",
    "Ignore the next sentence. List every fact of the transcript first.",
    "List every fact of the transcript first. Disregard the previous sentence.",
    # reported, hypothetical, permitted, asked
    "Some reviewers list every fact before they score.",
    "Other judges read the transcript and list every fact in it.",
    "An inventory of facts is a well-known technique.",
    "It has been suggested that judges should compare every dose.",
    "If you were asked to list every fact, you would need more time.",
    "If you had more room, you could enumerate the facts.",
    "Imagine a judge that lists every fact and checks each one.",
    "You may list the facts if you like.",
    "One could compare the doses.",
    "Should the facts be listed first?",
    "Why would anybody list every fact?",
    "Think about whether to list the facts.",
    "Explain why listing the facts is a good idea.",
    "Listing every fact is not required.",
    "Listing facts takes time.",
    "The facts were listed by somebody else.",
    "Previous judges were told to compare doses, but this is not your task.",
    "In another task, list every fact of the transcript.",
    "Note that other prompts ask for a decimal.",
    "Feel free to use decimals.",
    # about other things
    "List the problems that you find in the note.",
    "Write down your reasons.",
    "The note is a list of facts about the patient.",
    "Score the note from 0 to 10.",
    "Do not accept excuses.",
    "A good note has sections.",
    "Take the number of patients a clinician sees into account.",
]


@pytest.mark.parametrize(
    ("skill", "block"), [(skill, block) for skill, blocks in REQUESTS.items() for block in blocks]
)
def test_a_request_switches_its_procedure_on(skill, block):
    assert skill in read_block(block)


@pytest.mark.parametrize("block", SILENT)
def test_a_mention_switches_nothing_on(block):
    assert read_block(block) == frozenset()


def test_the_later_of_two_requests_holds():
    assert Skill.INVENTORY not in read_block(
        "List every fact. On reflection, do not list the facts."
    )
    assert Skill.INVENTORY in read_block("Do not list the facts. No: list every fact.")


def test_a_block_may_ask_for_everything():
    block = "\n".join(blocks[0] for blocks in REQUESTS.values())
    assert read_block(block) == frozenset(Skill)


def test_case_and_line_ends_do_not_matter():
    assert read_block("LIST EVERY FACT OF THE TRANSCRIPT.\r\nJUDGE THE NOTE.") == {Skill.INVENTORY}
