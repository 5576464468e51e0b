"""Further codes of a subscriber: who is credited, and that a code is somebody's for good."""

from functools import partial
from typing import Any

import pytest

from honeyguide.kernel import ids
from honeyguide.kernel.tenant import Tenant
from honeyguide.signups import lifecycle, signups
from honeyguide.signups.lifecycle import NewSubscriber
from honeyguide.subscribers import codes
from honeyguide.subscribers.codes import CodeHolder
from honeyguide.subscribers.subscribers import Subscriber
from tests.signups.test_claimed_codes import newsletter
from tests.support.changes import changing
from tests.support.stores import OpenStore
from tests.support.trade import NOON_MS, SITE


def join(opened: OpenStore, tenant: Tenant, email: str, code: str | None = None) -> Subscriber:
    new = NewSubscriber(email=email, referrer_code=code)
    return run(opened, tenant, signups.sign_up, new=new)


def run(opened: OpenStore, tenant: Tenant, unit: Any, **arguments: Any) -> Any:
    return opened.run(
        opened.store.write(partial(changing(unit, SITE, tenant, NOON_MS), **arguments))
    )


def adopt(opened: OpenStore, tenant: Tenant, *adopted: tuple[Subscriber, str]) -> list[str]:
    """The codes that were refused."""
    holders = [CodeHolder(code, subscriber.id) for subscriber, code in adopted]
    return [each.code for each in run(opened, tenant, codes.adopt, holders=holders)]


def test_a_further_code_credits_its_subscriber(opened: OpenStore) -> None:
    tenant = newsletter(opened)
    ann = join(opened, tenant, "ann@a.example")
    assert adopt(opened, tenant, (ann, "Ann-23b")) == []
    for number, code in enumerate(("Ann-23b", "ANN-23B", " ann-23b ")):
        friend = join(opened, tenant, f"friend{number}@b.example", code)
        # The fields of the specification show our code.
        assert (friend.referrer_id, friend.referrer_code) == (ann.id, ann.ref_code)
    assert join(opened, tenant, "other@b.example", "ann-23").referrer_id is None


def test_codes_that_differ_in_case_only_are_both_kept(opened: OpenStore) -> None:
    tenant = newsletter(opened)
    upper, lower = (join(opened, tenant, f"{name}@a.example") for name in ("upper", "lower"))
    assert adopt(opened, tenant, (upper, "DANA"), (lower, "dana")) == []
    assert join(opened, tenant, "one@b.example", "DANA").referrer_id == upper.id
    assert join(opened, tenant, "two@b.example", "dana").referrer_id == lower.id
    # Nobody can say whose this is.
    unclear = join(opened, tenant, "three@b.example", "Dana")
    assert unclear.referrer_id is None


def test_a_code_belongs_to_one_subscriber_of_a_campaign(opened: OpenStore) -> None:
    tenant, elsewhere = newsletter(opened), newsletter(opened)
    ann, ben = (join(opened, tenant, f"{name}@a.example") for name in ("ann", "ben"))
    foreign = join(opened, elsewhere, "ann@a.example")
    assert adopt(opened, tenant, (ann, "james23b"), (ben, "james23b")) == ["james23b"]
    # Again changes nothing; another campaign's codes are its own.
    assert adopt(opened, tenant, (ann, "james23b"), (ann, ann.ref_code)) == []
    assert adopt(opened, elsewhere, (foreign, "james23b")) == []
    # Ours are looked up without case, so that nobody else can have them in any.
    assert adopt(opened, tenant, (ben, ann.ref_code.upper())) == [ann.ref_code.upper()]
    assert join(opened, tenant, "one@b.example", "james23b").referrer_id == ann.id
    assert join(opened, elsewhere, "one@b.example", "james23b").referrer_id == foreign.id
    assert opened.ask("SELECT COUNT(*) FROM subscriber_code") == [(2,)]


def test_a_new_code_of_ours_is_none_that_was_imported(
    opened: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = newsletter(opened)
    ann = join(opened, tenant, "ann@a.example")
    assert adopt(opened, tenant, (ann, "ABCD2345")) == []
    drawn = iter(["abcd2345", "abcd2346"])
    monkeypatch.setattr(lifecycle, "new_code", lambda: next(drawn, ids.new_code()))
    assert join(opened, tenant, "ben@a.example").ref_code == "abcd2346"


def test_the_code_of_an_erased_subscriber_stays_theirs(opened: OpenStore) -> None:
    tenant = newsletter(opened)
    ann, ben = (join(opened, tenant, f"{name}@a.example") for name in ("ann", "ben"))
    assert adopt(opened, tenant, (ann, "ann-lee")) == []
    for _ in range(2):  # a restored backup is erased again
        run(opened, tenant, codes.erase, subscriber_id=ann.id)
        assert opened.ask("SELECT COUNT(*) FROM subscriber_code WHERE code LIKE 'ann%'") == [(0,)]
        assert adopt(opened, tenant, (ben, "ann-lee")) == ["ann-lee"]
    assert join(opened, tenant, "one@b.example", "ann-lee").referrer_id is None
