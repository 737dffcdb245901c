import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.splits.overlap import (
    clusters,
    grams,
    jaccard,
    near_duplicates,
    shingle_hash,
    shingle_hashes,
    shingles,
    words,
)

VOCABULARY = ["pain", "chest", "left", "no", "fever", "two", "days", "takes", "aspirin"]
texts = st.lists(st.sampled_from(VOCABULARY), max_size=40).map(" ".join)


def test_words_see_through_typography():
    assert words("Patient’s SOB\u200b—x2/7, ﬁne; 2.5 mg") == (
        ["patients", "sob", "x2", "7", "fine", "2", "5", "mg"]
    )
    assert words("don't DON’T") == ["dont", "dont"]
    assert words("") == words("… — !") == []


def test_shingles_are_runs_of_eight_words():
    text = "one two three four five six seven eight nine"
    assert shingles(text) == {
        "one two three four five six seven eight",
        "two three four five six seven eight nine",
    }
    assert shingles("one two three four five six seven") == set()


def test_dialogue_copied_without_its_speaker_tags_is_found():
    transcript = "[doctor] any pain at all\n[patient] yes in my left knee\n"
    copied = "any pain at all yes in my left knee"
    assert len(shingles(copied)) == 2
    assert shingles(copied) <= shingles(transcript)
    assert shingles("doctor any pain at all patient yes in my") <= shingles(transcript)


def test_a_size_below_one_is_refused():
    with pytest.raises(ValueError, match="at least one word"):
        shingles("a b", 0)


def test_the_salt_changes_every_hash():
    text = " ".join(VOCABULARY)
    assert len(shingle_hashes(text, "a")) == 2
    assert not shingle_hashes(text, "a") & shingle_hashes(text, "b")
    # Manifests hold these numbers, so they must never change.
    assert shingle_hash("x") == 0x4ADF4367F96E584F
    assert shingle_hash("x", "s") == 0xD09ADF0D8A8C7C03


@given(texts, texts)
def test_jaccard_is_symmetric_and_one_only_for_equal_sets(first, second):
    one, two = grams(first), grams(second)
    assert jaccard(one, two) == jaccard(two, one)
    assert 0 <= jaccard(one, two) <= 1
    assert (jaccard(one, two) == 1) == (one == two and bool(one))


@given(st.lists(texts, max_size=8), st.sampled_from([0.2, 0.5, 0.6, 0.8, 1.0]))
def test_near_duplicates_agree_with_comparing_every_pair(corpus, threshold):
    named = [(f"t{index}", text) for index, text in enumerate(corpus)]
    expected = {
        (one, two): jaccard(grams(a), grams(b))
        for i, (one, a) in enumerate(named)
        for two, b in named[i + 1 :]
        if jaccard(grams(a), grams(b)) >= threshold
    }
    found = near_duplicates(named, threshold)
    assert {(pair.first, pair.second): pair.similarity for pair in found} == expected


def test_texts_of_one_owner_are_not_compared_with_each_other():
    text = " ".join(VOCABULARY)
    assert near_duplicates([("a", text), ("a", text)]) == ()
    (pair,) = near_duplicates([("b", text), ("b", "x"), ("a", text)])
    assert (pair.first, pair.second, pair.similarity) == ("a", "b", 1.0)


def test_empty_texts_are_no_duplicates():
    assert near_duplicates([("a", ""), ("b", "")]) == ()


def test_clusters_join_what_is_linked_through_others():
    text = [f"w{n}" for n in range(60)]
    chain = [(f"c{k}", " ".join(text[8 * k : 8 * k + 40])) for k in range(3)]
    pairs = near_duplicates([*chain, ("far", "quite another story with its own words")], 0.5)
    assert len(pairs) == 2
    assert clusters(pairs) == (("c0", "c1", "c2"),)


def test_one_near_duplicate_is_found_among_five_hundred_long_transcripts():
    rng = random.Random(5)
    filler = [[f"f{rng.randrange(400)}" for _ in range(12)] for _ in range(60)]

    def transcript():
        lines = [rng.choice(filler) for _ in range(40)]
        own = [[f"v{rng.randrange(3000)}" for _ in range(14)] for _ in range(60)]
        return " ".join(word for line in lines + own for word in line)

    named = [(f"c{index:03}", transcript()) for index in range(500)]
    named.append(("planted", named[7][1].replace("v1", "v9", 3)))
    (pair,) = near_duplicates(named)
    assert (pair.first, pair.second) == ("c007", "planted")


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("chinese", "王建国，胸闷2周，夜间1点痛醒。服用氨氯地平每日一次。"),
        ("japanese", "三日前から咳が続いており、夜間に悪化する。熱はない。"),
        ("thai", "ผู้ป่วยมีอาการไอมาสามวันและหายใจลำบากในตอนกลางคืนไม่มีไข้"),
        ("burmese", "လူနာသည်သုံးရက်ကြာချောင်းဆိုးနေပြီးညဘက်တွင်အသက်ရှူကျပ်သည်ဟုပြောသည်"),
        ("mixed", "患者takes ramipril 5mg每日一次，无过敏史，父亲40岁患同病"),
    ],
)
def test_copies_are_found_in_scripts_without_spaces(script, text):
    runs = shingles(text)
    assert runs, script
    assert runs <= shingles(f"请看{text}好")
    assert runs <= shingles("\u200b".join(text))
    assert shingles(" ".join(text)) & runs or script == "mixed"
    assert not runs & shingles(text[: len(text) // 5])


def test_near_duplicates_are_found_in_scripts_without_spaces():
    text = (
        "王建国，胸闷2周，夜间1点痛醒。服用氨氯地平每日一次。父亲40岁患同病，职业焊工。无过敏史。"
        * 2
    )
    other = (
        "李明，左膝痛3周，上楼时加重。无外伤史。查体轻度肿胀，活动可。建议休息并冷敷，两周后复诊。"
        * 2
    )
    (pair,) = near_duplicates([("a", text), ("b", text.replace("焊工", "教师")), ("c", other)])
    assert (pair.first, pair.second) == ("a", "b")


@pytest.mark.parametrize(
    "disguised", ["nо fever tоday", "ｎｏ fever to\u00adday", "no fe\u0336ver tod\u200bay"]
)
def test_disguised_letters_are_the_same_words(disguised):
    assert shingles("no fever today", 3) <= shingles(disguised, 3)
