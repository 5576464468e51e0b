"""What our emails say. Each function has the name of the email's kind and returns its subject and
text.

Short and human: what happened, what it means, what to do. Amounts, dates and times come in as text.
An email to a reader is in the newsletter's language. It speaks for the newsletter, never for us,
and contains nothing that a stranger could have typed into a form: otherwise anyone could make us
send their text to anybody.
"""

from __future__ import annotations

from typing import NamedTuple

from honeyguide.languages.language import Language, translatable
from honeyguide.mail import email_kinds, own_texts
from honeyguide.mail.content import Button, Code, EmailText, NextReward, Note, email
from honeyguide.mail.layout import EmailBranding

# To the owner of an account.


def test_email(*, base_url: str) -> EmailText:
    return email(
        "Test email from Honeyguide",
        f"This is a test email from Honeyguide at {base_url}.",
        "If you can read it, your mail server delivers our emails.",
    )


def webhook_failing(*, url: str, since: str, disables_on: str, page: str) -> EmailText:
    return email(
        "Your webhook has been failing for a day",
        f"Deliveries to {url} have been failing since {since}.",
        f"We will keep trying. If nothing gets through by {disables_on}, "
        "we will disable the webhook.",
        Button("See the responses and send a test event", page),
    )


def webhook_disabled(*, url: str, reason: str, page: str) -> EmailText:
    """`reason` is a full sentence: what the endpoint did."""
    return email(
        "Your webhook has been disabled",
        f"We have stopped sending events to {url}. {reason}",
        "We keep events for 30 days. Fix the endpoint, enable the webhook again "
        "and replay what it missed.",
        Button("Open the webhook", page),
    )


def link_host_failing(*, host: str, why: str, until: str, page: str) -> EmailText:
    """`why` is a full sentence: what became of its record."""
    return email(
        f"{host} will stop serving your links on {until}",
        f"{why} Links work until {until}; then we turn this link host off.",
        "Add the record again, as the page shows it.",
        Button("Open Link hosts", page),
    )


def link_host_off(*, host: str, why: str, page: str) -> EmailText:
    """`why` is a full sentence: what became of its record."""
    return email(
        f"{host} no longer serves your links",
        f"We have turned this link host off. {why}",
        "Links that you shared with it lead nowhere until it is verified again.",
        Button("Open Link hosts", page),
    )


def reward_low_stock(*, reward: str, left: int, page: str) -> EmailText:
    codes = "1 coupon code is" if left == 1 else f"{left:,} coupon codes are"
    return email(
        f"{reward}: almost out of coupon codes",
        f"Only {codes} left for {reward}.",
        "Add more before you run out.",
        Button("Add codes", page),
    )


def reward_out_of_stock(*, reward: str, waiting: int, page: str) -> EmailText:
    subscribers = "1 subscriber is" if waiting == 1 else f"{waiting:,} subscribers are"
    return email(
        f"{reward}: out of coupon codes",
        f"The last coupon code for {reward} has been used."
        + (f" {subscribers} waiting for one." if waiting else ""),
        "Add more codes, and everyone waiting will get one.",
        Button("Add codes", page),
    )


def budget_warning(*, program: str, month: str, spent: str, budget: str, page: str) -> EmailText:
    return email(
        f"{program}: 80% of the budget for {month} is spent",
        f"You have spent {spent} of your {budget} budget for {month}.",
        "When it is used up, we will notify your partners. Then nothing more will be charged until "
        "the month ends or you raise the budget, except for those who came under a higher one.",
        Button("View the program", page),
    )


def budget_spent(
    *, program: str, month: str, spent: str, budget: str, highest: str, page: str
) -> EmailText:
    """`highest` is the budget above which it opens again."""
    return email(
        f"{program} has reached its budget for {month}",
        f"Spent in {month}: {spent}. Your monthly budget: {budget}. "
        "Fees are never split, so a little may be left over.",
        "We are notifying your partners. They can still refer subscribers, "
        "but nothing more will be charged this month, except for those who came under a higher "
        "budget or before the fee that did not fit.",
        f"To resume right away, raise the budget above {highest}.",
        Button("View the program", page),
    )


def first_referral(*, newsletter: str, page: str) -> EmailText:
    return email(
        "Your first referral",
        f"Somebody joined {newsletter} through one of your subscribers for the first time.",
        Button("See who", page),
    )


def confirmations_held(*, newsletter: str, page: str) -> EmailText:
    return email(
        "Confirmation emails are waiting for your decision",
        f"Many people signed up for {newsletter} through one referral link, and hardly any of them "
        "confirmed. Somebody may be entering other people’s addresses, so the emails that ask them "
        "to confirm are sent slowly: about 24 an hour, and more as people confirm. You can send "
        "them all now, or reject the referrals.",
        Button("Review these signups", page),
    )


def action_dropped(*, noun: str, done: str, why: str, page: str) -> EmailText:
    """`why` is a full sentence."""
    return email(
        f"A {noun} was not {done}",
        f"Somebody in your team asked for it a minute before, and it could not be done. {why}",
        "If you selected several, others may be left as well. Look at them again and decide anew.",
        Button("Open the dashboard", page),
    )


def reward_to_approve(*, reward: str, page: str) -> EmailText:
    return email(
        f"{reward}: waiting for your approval",
        f"A subscriber earned “{reward}”. They get it once you approve it.",
        Button("Approve it", page),
    )


def reward_claimed(*, reward: str, page: str) -> EmailText:
    return email(
        f"{reward}: claimed and waiting for you",
        f"A subscriber claimed “{reward}”, which you deliver yourself. They read that it is being "
        "prepared until you mark it as done.",
        Button("View what to fulfill", page),
    )


def item_to_send(*, reward: str, page: str) -> EmailText:
    return email(
        f"{reward}: claimed and waiting to be sent",
        f"A subscriber claimed “{reward}” and gave a postal address.",
        Button("View what to send", page),
    )


def payouts_due(*, month: str, payouts: str, amount: str, page: str) -> EmailText:
    """To an administrator; `payouts` as in "3 payouts"."""
    return email(
        f"{payouts} for {month} due",
        f"{month} is closed. Partners are owed {amount} in all.",
        Button("View the payouts", page),
    )


# To a reader.


class AdvocateFacts(NamedTuple):
    """What emails say about the advocate to whom they go."""

    hub: str
    """The link to their referral page."""
    referrals: int
    toward_rewards: int | None = None
    """If that was adjusted, our text does not say how many friends a reward took."""
    first_name: str = ""

    def values(self, brand: EmailBranding, **more: str) -> dict[str, str]:
        """For the placeholders of texts."""
        return {
            "newsletter": brand.name,
            "first_name": self.first_name,
            "count": brand.language.number(self.referrals),
            "link": self.hub,
            **more,
        }


class UnlockedReward(NamedTuple):
    name: str
    coupon_code: str | None = None
    link: str | None = None
    how_to_claim: str | None = None
    """The operator's own text."""


class RewardAhead(NamedTuple):
    """The next reward, and how many referrals are missing."""

    name: str
    left: int
    referral_link: str


def confirm(brand: EmailBranding, *, link: str, via: str = "") -> EmailText:
    """`via` says by whose link they came."""
    gettext = brand.language.gettext
    written = own_texts.write(email_kinds.CONFIRM, brand, {"newsletter": brand.name, "link": link})
    return email(
        written.subject,
        *written.paragraphs,
        *([via] if via else []),
        Button(gettext("Confirm your subscription"), link),
        Note(gettext("If it wasn’t you, ignore this email and you won’t be subscribed.")),
    )


def hub_link(brand: EmailBranding, *, link: str) -> EmailText:
    gettext = brand.language.gettext
    written = own_texts.write(email_kinds.HUB_LINK, brand, {"newsletter": brand.name, "link": link})
    return email(
        written.subject,
        *written.paragraphs,
        Button(gettext("Open your referral page"), link),
        Note(gettext("This page is private, so keep this email and don’t forward it.")),
        Note(gettext("If you didn’t ask for this email, you can ignore it.")),
    )


def friend_joined(brand: EmailBranding, advocate: AdvocateFacts) -> EmailText:
    """It does not say who: an advocate need not know who reads what."""
    written = own_texts.write(
        email_kinds.FRIEND_JOINED, brand, advocate.values(brand), count=advocate.referrals
    )
    button = Button(brand.language.gettext("Open your referral page"), advocate.hub)
    return email(written.subject, *written.paragraphs, button)


def one_more(brand: EmailBranding, advocate: AdvocateFacts, *, reward: str) -> EmailText:
    values = advocate.values(brand, reward=reward)
    del values["count"]
    written = own_texts.write(email_kinds.ONE_MORE, brand, values)
    button = Button(brand.language.gettext("Open your referral page"), advocate.hub)
    return email(written.subject, *written.paragraphs, button)


_EARNED_WITH_ADJUSTMENTS = translatable("Thank you! You’ve earned “{reward}” from {newsletter}.")


def reward_unlocked(
    brand: EmailBranding,
    advocate: AdvocateFacts,
    reward: UnlockedReward,
    ahead: RewardAhead | None = None,
) -> EmailText:
    language, gettext = brand.language, brand.language.gettext
    referrals = advocate.referrals
    progress = referrals if advocate.toward_rewards is None else advocate.toward_rewards
    written = own_texts.write(
        email_kinds.REWARD_UNLOCKED,
        brand,
        advocate.values(brand, reward=reward.name),
        count=referrals,
        text=language.translations.gettext(_EARNED_WITH_ADJUSTMENTS)
        if progress != referrals
        else "",
    )
    if reward.coupon_code or reward.link:
        hub_button = Button(gettext("See all your rewards"), advocate.hub, is_main=not reward.link)
    else:
        hub_button = Button(gettext("Claim your reward"), advocate.hub)
    blocks = (
        _code(language, reward.coupon_code) if reward.coupon_code else None,
        reward.how_to_claim,
        Button(gettext("Get your reward"), reward.link) if reward.link else None,
        hub_button,
        _next_reward(language, ahead, progress) if ahead else None,
    )
    return email(written.subject, *written.paragraphs, *blocks)


def _next_reward(language: Language, ahead: RewardAhead, referrals: int) -> NextReward:
    needed = referrals + ahead.left
    return NextReward(
        label=language.ngettext(
            "Next: {reward}, at {count} referral",
            "Next: {reward}, at {count} referrals",
            needed,
            reward=ahead.name,
        ),
        left=language.ngettext(
            "{count} more friend to go", "{count} more friends to go", ahead.left
        ),
        percent=100 * referrals // needed,
        link_label=language.gettext("Your link:"),
        link=ahead.referral_link,
    )


def _code(language: Language, code: str) -> Code:
    text = language.gettext("Your code: {code}", code=code)
    return Code(text, code, label=language.gettext("Your code: {code}", code="").strip())


# To a user.


def password_reset(*, link: str, valid_for: str) -> EmailText:
    """`valid_for` as in "1 hour"."""
    return email(
        "Reset your password",
        f"Choose a new password here. The link works once and expires in {valid_for}.",
        Button("Choose a new password", link),
        Note("If you didn’t ask for this, ignore this email. Your password won’t change."),
    )


def invitation(*, inviter: str, link: str, valid_for: str) -> EmailText:
    return email(
        f"{inviter} invited you to Honeyguide",
        f"{inviter} invited you to create an account on Honeyguide, "
        "where newsletters grow through referrals and partners.",
        f"Accept the invitation within {valid_for}.",
        Button("Accept the invitation", link),
        Note("If you don’t know the sender, you can ignore this email."),
    )


def member_invitation(*, account: str, role: str, link: str, valid_for: str) -> EmailText:
    article = "an" if role[0] in "aeiou" else "a"
    return email(
        f"Join {account} on Honeyguide",
        f"You are invited to {account} as {article} {role}.",
        f"Accept the invitation within {valid_for}.",
        Button("Join the team", link),
        Note("If you don’t know the sender, you can ignore this email."),
    )


def open_account(*, link: str, valid_for: str) -> EmailText:
    return email(
        "Create your Honeyguide account",
        "Choose a password to create your account. "
        f"The link works once and expires in {valid_for}.",
        Button("Create your account", link),
        Note("If you didn’t ask for this, ignore this email and no account will be created."),
    )


def account_exists(*, login: str, forgot: str) -> EmailText:
    return email(
        "You already have a Honeyguide account",
        "Someone, probably you, tried to create an account with this email address, "
        "but you already have one.",
        Button("Log in", login),
        Button("Reset your password", forgot, is_main=False),
        Note("If it wasn’t you, you can ignore this email."),
    )
