"""A pytest helper, and a test that uses it: the message lists what fails, and no sensitive cell."""

import discreet as dc


def assert_private(data, **required):
    found = dc.check(data, **required)
    assert found.ok, str(found)


def test_the_published_table():
    assert_private(
        "published/people.csv", quasi=["age", "zip", "sex"], sensitive=["diagnosis"], k=4, l=3
    )
