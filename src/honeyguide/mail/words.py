"""What our letters say. Each function bears the name of the letter's kind and gives its subject and text.

Short, human, present tense: what happened, what it means, what to do. Amounts, dates and times come in as text. A reader's
letter speaks for the newsletter, never for us, and holds nothing that a stranger could have typed into a form: else anyone
could have us send their words to anybody.
"""

from __future__ import annotations

from typing import NamedTuple


class Words(NamedTuple):
    subject: str
    text: str


def _letter(subject: str, *paragraphs: str | None) -> Words:
    return Words(subject, "\n\n".join(paragraph for paragraph in paragraphs if paragraph) + "\n")


# To the owner of an account.


def webhook_failing(*, url: str, since: str, disables_on: str, page: str) -> Words:
    return _letter(
        "Your webhook has failed for a day",
        f"Every delivery to {url} fails since {since}.",
        f"We keep trying. If nothing gets through until {disables_on}, we switch the webhook off.",
        f"See what it answers, and send a test:\n{page}",
    )


def webhook_disabled(*, url: str, reason: str, page: str) -> Words:
    """`reason` is a whole sentence: what the receiver did."""
    return _letter(
        "Your webhook is switched off",
        f"We no longer send events to {url}. {reason}",
        f"Events are kept for 30 days: mend the receiver, switch the webhook on and replay what it missed:\n{page}",
    )


def reward_low_stock(*, reward: str, left: int, page: str) -> Words:
    codes = "1 code is" if left == 1 else f"{left:,} codes are"
    return _letter(
        f"Few codes left for {reward}",
        f"{codes} left for the reward {reward}.",
        f"Add more before your readers run into an empty shelf:\n{page}",
    )


def reward_out_of_stock(*, reward: str, waiting: int, page: str) -> Words:
    readers = "1 reader has" if waiting == 1 else f"{waiting:,} readers have"
    return _letter(
        f"No codes left for {reward}",
        f"The last code of the reward {reward} is given out." + (f" {readers} earned one and wait for it." if waiting else ""),
        f"Add codes, and everyone who waits gets one:\n{page}",
    )


def budget_warning(*, program: str, month: str, spent: str, budget: str, page: str) -> Words:
    return _letter(
        f"{program}: 80 % of the budget for {month} is spent",
        f"{spent} of {budget} is spent in {month}.",
        "At 100 % your partners are told, and nothing more is charged until the month ends or you raise the budget.",
        f"The program:\n{page}",
    )


def budget_spent(*, program: str, month: str, spent: str, budget: str, page: str) -> Words:
    return _letter(
        f"{program}: the budget for {month} is reached",
        f"Spent in {month}: {spent}. Your monthly budget: {budget}. A fee is never split, so a small amount may stay unspent.",
        "We notify your partners. New readers still sign up and stay subscribed, but no more fees are charged this month.",
        f"To go on this month, raise the budget above what is spent:\n{page}",
    )


# To a partner.


def budget_reached(*, program: str, month: str, resumes: str, page: str) -> Words:
    return _letter(
        f"{program} has reached its budget for {month}",
        f"{program} has reached its budget for {month}. Readers you send from now on earn you nothing until {resumes}, "
        "unless the owner raises the budget sooner. If that happens, we will let you know.",
        "What you have earned so far stays yours.",
        f"Your earnings:\n{page}",
    )


def budget_reopened(*, program: str, month: str, page: str) -> Words:
    return _letter(
        f"{program} is paying for readers again",
        f"The owner of {program} raised the budget for {month}, so new readers you send can earn you fees again.",
        "Readers who were verified while the budget was reached are not paid for afterwards.",
        f"Your earnings:\n{page}",
    )


# To a reader.


def confirm(*, newsletter: str, link: str) -> Words:
    return _letter(
        f"Confirm your subscription to {newsletter}",
        f"Somebody, probably you, signed this address up for {newsletter}. One click confirms it:\n{link}",
        "If it was not you, do nothing: without the click you get no mail.",
    )


def hub_link(*, newsletter: str, link: str) -> Words:
    return _letter(
        f"Your {newsletter} referral page",
        f"Here you find your link to share, your progress and your rewards:\n{link}",
        "The page is yours alone: keep this letter, and do not pass it on.",
        "If you did not ask for it, do nothing.",
    )


def reward_unlocked(
    *,
    newsletter: str,
    reward: str,
    referrals: int,
    hub: str,
    coupon_code: str | None = None,
    link: str | None = None,
    how_to_claim: str | None = None,
) -> Words:
    """With a code or a link when there is one; `how_to_claim` is the operator's own sentence."""
    friends = "a friend" if referrals == 1 else f"{referrals:,} friends"
    return _letter(
        f"You earned {reward}",
        f"Thank you! You brought {friends} to {newsletter}, and that earns you {reward}.",
        f"Your code: {coupon_code}" if coupon_code else None,
        f"It is here:\n{link}" if link else None,
        how_to_claim,
        f"{'See all your rewards' if coupon_code or link else 'Claim it'} on your page:\n{hub}",
    )


# To whoever signs in.


def password_reset(*, link: str, valid_for: str) -> Words:
    """`valid_for` as in "1 hour"."""
    return _letter(
        "Choose a new password",
        f"Choose a new password here. The link works once, for {valid_for}:\n{link}",
        "If you did not ask for this, do nothing: your password stays as it is.",
    )


def invitation(*, inviter: str, link: str, valid_for: str) -> Words:
    return _letter(
        f"{inviter} invites you to Honeyguide",
        f"{inviter} invites you to open an account on Honeyguide, where newsletters grow through their readers and partners.",
        f"Accept within {valid_for}:\n{link}",
        "If you do not know the sender, do nothing.",
    )


def open_account(*, link: str, valid_for: str) -> Words:
    return _letter(
        "Open your Honeyguide account",
        f"Choose a password here, and your account is open. The link works once, for {valid_for}:\n{link}",
        "If you did not ask for this, do nothing: no account is made.",
    )


def account_exists(*, login: str, forgot: str) -> Words:
    return _letter(
        "You have a Honeyguide account already",
        f"Somebody, probably you, asked to open an account for this address. There is one: log in here:\n{login}",
        f"If you do not remember the password, choose a new one:\n{forgot}",
        "If it was not you, do nothing.",
    )
