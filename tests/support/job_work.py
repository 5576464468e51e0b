"""Work for each job to do, for the accounts of a world."""

from functools import partial

from honeyguide.kernel.clock import DAY_MS, system_clock
from honeyguide.kernel.ids import new_id
from honeyguide.kernel.tenant import Tenant
from honeyguide.moving import checking
from honeyguide.partners import ledger
from honeyguide.subscribers import link_hosts
from tests.support import first_looks, partner_network, prizes
from tests.support.job_referrals import (
    ODD,
    subscribe,
)
from tests.support.job_world import World, old_rows
from tests.support.readings import changes_of
from tests.support.web import operator, upload


def start_imports(world: World) -> None:
    world.both = tuple(operator(world.service) for _ in world.both)
    for who in world.both:
        import_id = upload(who, f"email,name\n{new_id()}@example.org,{ODD['name'][:20]!r}\n")
        who.web.post(f"/subscribers/import/{import_id}", do="start", email="0", name="1")


def mark_days(world: World) -> None:
    subscribe(world)
    world.run("update the page index")


def offer_late(world: World) -> None:
    for who in world.both:
        prizes.advocate(who, 1, f"{new_id()}@example.org")
        prizes.offer(who, name="🐝 =1+1")


def restock(world: World) -> None:
    for who in world.both:
        reward = prizes.offer(who, kind="coupon", coupon_codes=[])
        prizes.advocate(who, 1, f"{new_id()}@example.org")
        # As if more had waited than get one at once.
        world.do(
            "INSERT INTO coupon (id, account_id, reward_id, code) "
            "VALUES (:id, :who, :reward, :code)",
            id=new_id(),
            who=who.account_id,
            reward=reward["uuid"],
            code="=1+1 \U0001f41d",
        )
        world.do("UPDATE reward SET codes_left = 1 WHERE account_id = :id", id=who.account_id)


def ship(world: World) -> None:
    for who in world.both:
        prizes.offer(who)
        prizes.advocate(who, 1, f"{new_id()}@example.org")
        world.do(
            "UPDATE won_reward SET shipping = '{}', sent_ms = 1, redeemed_ms = 1 "
            "WHERE account_id = :id",
            id=who.account_id,
        )


def send_rewards(world: World) -> None:
    """With an address and a note that no carrier has."""
    address = (
        '{"name":"🐝","line1":"\\u202e","city":"👩‍👩‍👧‍👦","postcode":"=1","country":"Atlantis"}'
    )
    for who in world.both:
        prizes.offer(who)
        prizes.advocate(who, 1, f"{new_id()}@example.org")
        world.do(
            "UPDATE won_reward SET shipping = :address, sent_ms = 1, redeemed_ms = 1, "
            "announce_ms = 1, tracking_note = :note WHERE account_id = :id",
            id=who.account_id,
            address=address,
            note="USPS \u202e <b>{reward}",
        )


def queue_emails(world: World) -> None:
    old_rows(
        "letter",
        id="ID",
        kind="test",
        to_email="odd+🐝@example.org",
        subject="=1+1 👩‍👩‍👧‍👦",
        body_text="\u202e",
        waited_for=1,
        created_ms=1,
        due_ms=1,
    )(world)


def spend_budgets(world: World) -> None:
    for who in world.both:
        program = partner_network.offer(
            who, partner_network.publish(who, name="\U0001f41d " + "W" * 40)
        )
        world.do(
            "INSERT INTO budget (program_id, month, account_id, spent_cents, nearly_ms) "
            "VALUES (:program, '2020-01', :id, 1, 1)",
            program=program["uuid"],
            id=who.account_id,
        )


def change_terms(world: World) -> None:
    """A change to tell, of a program with the oddest name, to a partner who is somebody else."""
    partner = world.service.member("partner")
    for who in world.both:
        paper = partner_network.publish(who, name="\U0001f41d " + "W" * 40)
        program = partner_network.offer(who, paper)
        partner_network.join(partner, program)
        answer = who.put(f"/v2/partner_programs/{program['uuid']}", {"cpa": 2})
        assert answer.status_code == 200, answer.text


def begin_terms(world: World) -> None:
    """Worse terms that were saved on a dashboard a day ago."""
    for who in world.both:
        program = partner_network.offer(who)
        columns = {
            "id": new_id(),
            "account_id": who.account_id,
            "program_id": program["uuid"],
            "texts": '[["Fee","$3.00","$0.07"]]',
            "fields": '{"cpa_cents":7}',
            "actor_kind": "member",
            "actor_id": "gone",
            "starts_ms": 1,
            "created_ms": 1,
        }
        names, binds = ", ".join(columns), ", ".join(f":{name}" for name in columns)
        world.do(f"INSERT INTO term_change ({names}) VALUES ({binds})", **columns)


def await_looks(world: World, readers: int = first_looks.FIRST) -> None:
    """Readers of a new partner, as many as count without a look."""
    for who in world.both:
        joined = first_looks.begin(who, who.service.member("bob"))
        for number in range(readers):
            who.subscribe(f"look{number}@example.org", referrer_code=joined["ref_code"])


def refuse_readers(world: World) -> None:
    """Readers whom their owners looked at and refused just now."""
    await_looks(world, readers=1)
    world.do(
        "INSERT INTO first_look (id, account_id, program_id, allowed, refused_ms, looked_ms) "
        "SELECT look_id, account_id, program_id, 0, MAX(arrived_ms), 1 FROM partner_referral "
        "WHERE look_id IS NOT NULL AND look_id NOT IN (SELECT id FROM first_look) "
        "GROUP BY look_id, account_id, program_id"
    )


def change_rates(world: World) -> None:
    for who in world.both:
        partner_network.offer(who)
        world.do("UPDATE program SET confirmation_bp = 5 WHERE account_id = :id", id=who.account_id)


def decide_today(world: World) -> None:
    for who in world.both:
        program = partner_network.offer(who)
        world.do(
            "INSERT INTO program_day (program_id, account_id, day, verified) "
            "VALUES (:program, :id, :day, 1)",
            program=program["uuid"],
            id=who.account_id,
            day=system_clock() // DAY_MS,
        )


def earn(world: World) -> None:
    world.do("INSERT INTO period (month) VALUES ('2020-01')")
    for who in world.both:
        world.do(
            "INSERT INTO transfer (id, kind, reference, debit, credit, amount_cents, month, "
            "created_ms) VALUES (:id, 'charge', :id, 'x', :credit, 9007199254740991, '2020-01', 1)",
            id=new_id(),
            credit=ledger.partner(who.account_id),
        )
    world.do("UPDATE period SET closed_ms = 1 WHERE month = '2020-01'")


def pay_out(world: World) -> None:
    world.do("INSERT INTO period (month, closed_ms, paid_out_ms) VALUES ('2020-02', 1, 1)")
    old_rows("payout", id="ID", month="2020-02", amount_cents=2**53, created_ms=1)(world)


def close_month(world: World) -> None:
    world.do("INSERT INTO period (month, closed_ms, paid_out_ms) VALUES ('2020-03', 1, 1)")
    for who in world.both:
        world.do("UPDATE account SET created_ms = 1 WHERE id = :id", id=who.account_id)


def queue_for_slack(world: World) -> None:
    old_rows("slack_webhook", encrypted_url="of another key", host="example.org")(world)
    old_rows("slack_message", id="ID", sentence="<|\U0001f41d>", link="/", due_ms=1)(world)


def count_attempts(world: World) -> None:
    for who in world.both:
        world.do(
            "INSERT INTO attempt_count (subject, since_ms, n) VALUES (:id, 1, 1)",
            id=who.account_id,
        )


def notices(world: World) -> None:
    old_rows(
        "notice",
        id="ID",
        kind="budget_80",
        once_key="ID",
        sentence="🐝 <b>=1+1",
        created_ms=1,
        digest_due_ms=1,
    )(world)


def due_weeklies(world: World) -> None:
    for who in world.both:
        who.subscribe(f"{new_id()}@example.org", **ODD)
        world.do(
            "UPDATE account SET weekly_due_ms = 1, weekly_monday = '2000-01-03' WHERE id = :id",
            id=who.account_id,
        )


def empty_search_texts(world: World) -> None:
    for who in world.both:
        partner_network.publish(who)
        world.do(
            "UPDATE publication SET search_text = '' WHERE account_id = :id", id=who.account_id
        )


def let_keys_expire(world: World) -> None:
    changed = "created_ms = 1, name = :name, last_used_ms = :now_ms, expires_ms = :expires_ms"
    now_ms = world.service.now_ms()
    days = {"now_ms": now_ms, "expires_ms": now_ms + 2 * DAY_MS, "name": "ш" * 255}
    for who in world.both:
        world.do(f"UPDATE api_key SET {changed} WHERE account_id = :id", id=who.account_id, **days)


def ask_for_hosts(world: World) -> None:
    for who in world.both:
        who.make(link_hosts.add, f"{'a' * 60}.{who.account_id}.example")
        world.do("UPDATE link_host SET due_ms = 1 WHERE account_id = :id", id=who.account_id)


def ask_to_close(world: World) -> None:
    for who in world.both:
        who.subscribe(f"{new_id()}@example.org", **ODD)
        world.do("UPDATE account SET closes_ms = 1 WHERE id = :id", id=who.account_id)


def close_long_ago(world: World) -> None:
    for who in world.both:
        world.do(
            "UPDATE account SET closes_ms = 1, closed_ms = 1, emptied_ms = 1 WHERE id = :id",
            id=who.account_id,
        )


def begin_checks(world: World) -> None:
    world.both = tuple(operator(world.service) for _ in world.both)
    imports = []
    for who in world.both:
        import_id = upload(who, f"email,name\n{new_id()}@example.org,{ODD['name'][:20]!r}\n")
        who.web.post(f"/subscribers/import/{import_id}", do="start", email="0", name="1")
        imports.append((who, import_id))
    world.run("import uploaded files")
    for who, import_id in imports:
        begin = partial(
            changes_of(
                checking.begin, Tenant(who.account_id, who.campaign_id), now_ms=system_clock()
            ),
            import_id=import_id,
        )
        world.service.write(begin)


def begin_fetches(world: World) -> None:
    """With keys that cannot be decrypted, which is a problem to record."""
    for who in world.both:
        import_id = new_id()
        world.do(
            "INSERT INTO import (id, account_id, campaign_id, file_name, header, mapping, total, "
            "created_ms) VALUES (:id, :who, :campaign, 'x', '[]', '{}', 0, 1)",
            id=import_id,
            who=who.account_id,
            campaign=who.campaign_id,
        )
        world.do(
            "INSERT INTO remote_fetch (import_id, account_id, base_url, secret, stage, created_ms) "
            "VALUES (:id, :who, 'http://127.0.0.1:1', 'x', 'people', 1)",
            id=import_id,
            who=who.account_id,
        )
