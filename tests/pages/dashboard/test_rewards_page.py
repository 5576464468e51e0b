"""The rewards page of the dashboard over HTTP: rewards are added, changed and removed."""

import re

from tests.support.web import Operator, text_of


def test_rewards_are_made_changed_and_removed(alice: Operator) -> None:
    assert alice.web.post("/rewards", name="", referrals="3", kind="manual").status_code == 400
    assert (
        "whole number"
        in alice.web.post("/rewards", name="Mug", referrals="none", kind="manual").text
    )
    alice.web.post(
        "/rewards", name="Stickers", referrals="1", kind="coupon", coupon_codes="A-1\nA-2"
    )
    page = alice.web.get("/rewards").text
    assert "Stickers" in page and "2 of 2 codes left" in text_of(page)
    link = re.search(r'href="/rewards/([0-9a-f-]{36})"', page)
    assert link
    assert (
        alice.web.post(
            f"/rewards/{link[1]}", name="Sticker pack", referrals="1", coupon_codes="A-3"
        ).status_code
        == 303
    )
    assert "3 of 3 codes left" in text_of(alice.web.get("/rewards").text)
    approve = {"name": "Sticker pack", "referrals": "1", "by_hand": "1"}
    assert alice.web.post(f"/rewards/{link[1]}", **approve).status_code == 303
    for by_hand, refused in ((True, approve), (False, {"name": "Sticker pack"})):
        form = alice.web.post(f"/rewards/{link[1]}", **refused | {"referrals": "none"})
        box = re.search(r'<input[^>]*name="by_hand"[^>]*>', form.text)
        assert form.status_code == 400 and box and ("checked" in box[0]) == by_hand
    assert alice.web.post(f"/rewards/{link[1]}", **approve | {"by_hand": ""}).status_code == 303
    lead = alice.subscribe("lead@example.org")
    alice.subscribe("friend@example.org", referrer_code=lead["ref_code"])
    assert "Sticker pack" in alice.web.get(f"/subscribers/{lead['uuid']}").text
    assert "A-1" in alice.web.get(f"/subscribers/{lead['uuid']}").text
    sketch = alice.web.post(
        "/rewards/preview",
        page="/rewards",
        name="A <b>gold</b> medal",
        referrals="7",
        kind="manual",
    )
    assert "A &lt;b&gt;gold&lt;/b&gt; medal" in sketch.text and "<script" not in sketch.text
    copy = re.search(r"<button[^>]*data-copy=[^>]*>", sketch.text)
    assert copy and "hidden" not in copy[0], "shown though the preview runs no script"
    assert alice.web.post(f"/rewards/{link[1]}/delete", page="/rewards").status_code == 303
    assert "No rewards yet" in alice.web.get("/rewards").text
