"""v1 subscribers: every row of the specification's table, on both engines."""


def test_a_created_subscriber_has_exactly_the_written_fields(alice):
    answer = alice.post(f"{alice.v1}/subscribers", {"email": "Ana@Example.org", "name": "Ana"})
    assert answer.status_code == 201
    subscriber = answer.json()["subscriber"]
    assert set(subscriber) == {
        "uuid", "email", "name", "ref_code", "referrer_code", "referrals_count", "ip_address", "user_agent", "origin",
        "utm_source", "utm_campaign", "created_at",
    }  # fmt: skip
    assert subscriber["referrals_count"] == 0
    assert subscriber["origin"] == "api"


def test_a_referral_counts_for_its_referrer(alice):
    ana = alice.subscribe("ana@example.org")
    ben = alice.subscribe("ben@example.org", referrer_code=ana["ref_code"])
    assert ben["referrer_code"] == ana["ref_code"]
    assert alice.subscriber("ana@example.org")["referrals_count"] == 1
    assert alice.total("advocates") == 1
    assert alice.total("referrals") == 1
    assert alice.total() == 2
    alice.service.run_jobs()
    assert alice.total() == 2
    assert alice.delete(f"{alice.v1}/subscribers/{ben['uuid']}").json().keys() == {"message"}
    assert alice.total() == 1
    assert alice.total("advocates") == 0
