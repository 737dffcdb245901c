import pytest

from heldout.students.models.http_status import error_body, fault_of, retry_after_s


@pytest.mark.parametrize(
    ("status", "said", "kind", "transient"),
    [
        (429, "slow down", "rate_limit", True),
        (429, {"error": {"code": "insufficient_quota"}}, "payment", False),
        (429, "You exceeded your current quota, look at billing", "rate_limit", True),
        (500, "oops", "server", True),
        (502, "", "server", True),
        (529, "overloaded", "server", True),
        (408, "", "timeout", True),
        (401, "Incorrect API key", "auth", False),
        (403, "", "auth", False),
        (402, "no credits", "payment", False),
        (404, "no such model", "not_found", False),
        (400, "bad temperature", "bad_request", False),
        (422, "", "bad_request", False),
        (400, "This model's maximum context length is 8192 tokens", "context_window", False),
        (413, "", "context_window", False),
        (418, "", "bad_request", False),
    ],
)
def test_what_a_status_means(status, said, kind, transient):
    fault = fault_of(status, error_body(said))
    assert (fault.kind, fault.transient) == (kind, transient)
    assert str(status) in str(fault)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "120"}, 120.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        (
            {
                "Retry-After": "Wed, 21 Oct 2015 07:28:10 GMT",
                "Date": "Wed, 21 Oct 2015 07:28:00 GMT",
            },
            10.0,
        ),
        (
            {
                "Retry-After": "Wed, 21 Oct 2015 07:27:00 GMT",
                "Date": "Wed, 21 Oct 2015 07:28:00 GMT",
            },
            0.0,
        ),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:10 GMT"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-3"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "nan"}, None),
    ],
)
def test_retry_after_in_all_its_forms(headers, seconds):
    assert retry_after_s(headers) == seconds


def test_a_filter_is_told_from_a_bad_request():
    assert error_body({"error": {"code": "content_filter"}}).refuses
    assert error_body({"error": {"innererror": {"code": "ResponsibleAIPolicyViolation"}}}).refuses
    assert not error_body({"error": {"message": "content_filter: must be off"}}).refuses
    assert not error_body("content_policy").refuses
