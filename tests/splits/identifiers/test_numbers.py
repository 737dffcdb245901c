import pytest

from heldout.splits.identifiers.number_words import as_digits
from heldout.splits.identifiers.numbers import emails, numbers
from heldout.splits.legible import visible


@pytest.mark.parametrize(
    "written",
    ["9434765919", "943 476 5919", "943-476-5919", "943.476.5919", "(943) 476-5919",
     "９４３ 476 5919", "٩٤٣٤٧٦٥٩١٩"],
)  # fmt: skip
def test_separators_do_not_change_a_number(written):
    assert "9434765919" in numbers(visible(f"no. {written}; well"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("peak flow 437", {"437"}),
        ("BP 163/97", {"163"}),
        ("room 480", {"480"}),
        ("480 mg", set()),
        ("500mg twice", set()),
        ("875 mg", set()),
        ("437 mg", {"437"}),
        ("120/80", set()),
        ("24 hours", set()),
        ("at most 400 words", set()),
        ("100% or 0 to 100", set()),
        ("38.5 and 2.25", set()),
        ("1,250 ml", set()),
        ("4.837.221", {"4837221"}),
        ("7-10 or 10-14 days", set()),
        ("AB12345C", {"12345"}),
    ],
)
def test_numbers_of_three_digits_count_unless_they_are_common_quantities(text, found):
    assert numbers(text) == found


def test_phone_numbers_in_pairs_are_one_number():
    assert "0612345678" in numbers("06 12 34 56 78")
    assert "0612345678" in numbers("0612345678")


@pytest.mark.parametrize(
    "written", ["anna.berg@mail.example.org", "Anna.Berg @ mail.example.org",
                "anna.berg (at) mail (dot) example (dot) org",
                "anna.berg at mail dot example dot org"]
)  # fmt: skip
def test_an_address_is_found_however_it_is_typed(written):
    assert emails(f"Write to {written} today") == {"anna.berg@mail.example.org"}


@pytest.mark.parametrize("text", ["look at the note", "3 @ 5", "at 10. Then stop", "@home"])
def test_other_text_is_no_address(text):
    assert emails(text) == frozenset()


@pytest.mark.parametrize(
    ("written", "digits"),
    [
        ("four eight two nine", "4829"),
        ("nineteen eighty four", "1984"),
        ("nineteen oh five", "1905"),
        ("twenty-first", "21"),
        ("two thousand and three", "2003"),
        ("一九八四年", "1984年"),
        ("二十日", "20日"),
        ("十号", "10号"),
        ("one hundred and five", "one hundred and five"),
        ("nobody", "nobody"),
    ],
)
def test_numbers_that_are_written_out(written, digits):
    assert as_digits(written) == digits
