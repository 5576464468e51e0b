"""The API's routes that find: subscribers by a part of a name, and referrals to review."""

from tests.support.service import Member

NETWORK = "203.0.113.9"


def test_subscribers_are_found_by_a_part_of_their_name_or_address(
    alice: Member, bob: Member
) -> None:
    path = f"{alice.v1}/subscriber_search"
    zoe = alice.subscribe("zoe@example.org", name="Zoë Brandt")
    alice.subscribe("friend@example.org", referrer_code=zoe["ref_code"])
    bob.subscribe("zoe@example.net", name="Zoë Brandt")
    for text in ("zoe", "BRANDT", " zo ", "zoe@example.org"):
        (found,) = alice.get(path, params={"q": text}).json()["subscribers"]
        assert (found["uuid"], found["email"], found["name"]) == (
            zoe["uuid"],
            "zoe@example.org",
            "Zoë Brandt",
        )
        assert (found["status"], found["referrals_count"], found["referrer_code"]) == (
            "active",
            1,
            None,
        )
    for nothing in ("", " ", "%", "_", "nobody"):
        assert alice.get(path, params={"q": nothing}).json() == {"subscribers": []}
    assert alice.get(path).json() == {"subscribers": []}
    refused = alice.get(path, params={"q": "x" * 256})
    assert refused.status_code == 400 and refused.json()["param"] == "q"
    assert refused.json()["error"] == "q must have at most 255 characters."


def test_referrals_to_review_are_listed_until_they_are_decided(alice: Member, bob: Member) -> None:
    path = f"{alice.v1}/referrals_to_review"
    alice.put(f"{alice.v1}/settings", {"screening": "strong"})
    ann = alice.subscribe("ann@example.org", ip_address=NETWORK)
    near = alice.subscribe("near@gmail.com", referrer_code=ann["ref_code"], ip_address=NETWORK)
    alice.subscribe("far@gmail.com", referrer_code=ann["ref_code"], ip_address="198.51.100.1")
    (found,) = alice.get(path).json()["referrals"]
    explained = alice.get(f"{alice.v1}/subscribers/{near['uuid']}/referral").json()["referral"]
    assert found == {
        "subscriber_uuid": near["uuid"],
        "email": "near@gmail.com",
        "name": None,
        "referrer_code": ann["ref_code"],
        "referrer_uuid": ann["uuid"],
        "reason": explained["reason"],
        "explanation": explained["explanation"],
        "due_at": explained["due_at"],
        "created_at": near["created_at"],
    }
    assert bob.get(f"{bob.v1}/referrals_to_review").json() == {"referrals": []}
    decided = {"status": "rejected", "subscribers": [near["uuid"]]}
    assert alice.post(f"{alice.v1}/referral_decisions", decided).status_code == 200
    assert alice.get(path).json() == {"referrals": []}
