import pytest

from heldout.splits.identifiers.calendar_dates import dates
from heldout.splits.legible import visible

SAME = [
    "12/03/1961", "03-12-1961", "12.3.61", "1961-03-12", "19610312", "12 March 1961",
    "March 12th, 1961", "12th of March '61", "12-Mar-1961", "MARCH 12 1961",
    "March the twelfth 1961", "1961 March 12",
    "the twelfth of March nineteen sixty-one", "12. März 1961", "12 de marzo de 1961",
    "12 mars 1961",
    "12 марта 1961 г.", "12 березня 1961", "12 Μαρτίου 1961", "1961年3月12日",
    "一九六一年三月十二日",
    "一九61年三月十二日", "61年3月12日", "1961년 3월 12일", "12 / 03 / 1961",
    "１２／０３／１９６１", "12/3/2504",
]  # fmt: skip


@pytest.mark.parametrize("written", SAME)
def test_every_spelling_of_a_date_is_the_same_date(written):
    found, rest = dates(visible(f"Born {written}, well."))
    assert found == {"date 61-3-12"}
    assert "Born" in rest
    assert "well" in rest


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("on 3 May at noon", "day 3-5"),
        ("in March 1950", "month 50-3"),
        ("出生于一九50年三月", "month 50-3"),
        ("十二月二十三日", "day 12-23"),
        ("third of May two thousand and three", "date 03-3-5"),
    ],
)
def test_a_date_may_lack_its_day_or_its_year(written, key):
    assert dates(visible(written))[0] == {key}


@pytest.mark.parametrize(
    "text",
    ["2 may differ", "120/80 mmHg", "14:35", "7-10 days", "1/2 or 3/4", "99/99/1999", "in 1961",
     "march on", "twenty four hours", "2.5 mg", "3 sets of 10", ""],
)  # fmt: skip
def test_other_figures_are_no_dates(text):
    assert dates(text)[0] == frozenset()
