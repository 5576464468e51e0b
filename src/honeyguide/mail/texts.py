"""What our emails say. Each function has the name of the email's kind and returns its subject and
text.

Short and human: what happened, what it means, what to do. Amounts, dates and times come in as text.
An email to a reader is in the newsletter's language. It speaks for the newsletter, never for us,
and contains nothing that a stranger could have typed into a form: otherwise anyone could make us
send their text to anybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from honeyguide.languages.language import Language, translatable
from honeyguide.mail import email_kinds, own_texts
from honeyguide.mail.content import Button, Code, EmailText, NextReward, Note, email

# Without texts of the operator's own.
DEFAULT_TEXTS: Mapping[str, str] = MappingProxyType({})


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
        "confirmed, or they have a lot in common. Somebody may be entering other people’s "
        "addresses, so the emails that ask them to confirm are waiting. As more people confirm, "
        "they are sent. You can send them all now, or reject the referrals.",
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


def confirm(
    language: Language,
    *,
    newsletter: str,
    link: str,
    via: str = "",
    own: Mapping[str, str] = DEFAULT_TEXTS,
) -> EmailText:
    """`own` are the operator's texts, here and below; `via` says by whose link they came."""
    gettext = language.gettext
    values = {"newsletter": newsletter, "link": link}
    written = own_texts.write(email_kinds.CONFIRM, language, own, values)
    return email(
        written.subject,
        *written.paragraphs,
        *([via] if via else []),
        Button(gettext("Confirm your subscription"), link),
        Note(gettext("If it wasn’t you, ignore this email and you won’t be subscribed.")),
    )


def hub_link(
    language: Language, *, newsletter: str, link: str, own: Mapping[str, str] = DEFAULT_TEXTS
) -> EmailText:
    gettext = language.gettext
    values = {"newsletter": newsletter, "link": link}
    written = own_texts.write(email_kinds.HUB_LINK, language, own, values)
    return email(
        written.subject,
        *written.paragraphs,
        Button(gettext("Open your referral page"), link),
        Note(gettext("This page is private, so keep this email and don’t forward it.")),
        Note(gettext("If you didn’t ask for this email, you can ignore it.")),
    )


def friend_joined(
    language: Language,
    *,
    newsletter: str,
    referrals: int,
    hub: str,
    first_name: str = "",
    own: Mapping[str, str] = DEFAULT_TEXTS,
) -> EmailText:
    """It does not say who: an advocate need not know who reads what."""
    values = {
        "newsletter": newsletter,
        "first_name": first_name,
        "count": language.number(referrals),
        "link": hub,
    }
    written = own_texts.write(email_kinds.FRIEND_JOINED, language, own, values, count=referrals)
    return email(
        written.subject,
        *written.paragraphs,
        Button(language.gettext("Open your referral page"), hub),
    )


def one_more(
    language: Language,
    *,
    newsletter: str,
    reward: str,
    hub: str,
    first_name: str = "",
    own: Mapping[str, str] = DEFAULT_TEXTS,
) -> EmailText:
    values = {"newsletter": newsletter, "reward": reward, "first_name": first_name, "link": hub}
    written = own_texts.write(email_kinds.ONE_MORE, language, own, values)
    return email(
        written.subject,
        *written.paragraphs,
        Button(language.gettext("Open your referral page"), hub),
    )


_EARNED_WITH_ADJUSTMENTS = translatable("Thank you! You’ve earned “{reward}” from {newsletter}.")


def reward_unlocked(
    language: Language,
    *,
    newsletter: str,
    reward: str,
    referrals: int,
    hub: str,
    toward_rewards: int | None = None,
    first_name: str = "",
    coupon_code: str | None = None,
    link: str | None = None,
    how_to_claim: str | None = None,
    next_reward: str = "",
    left: int = 0,
    referral_link: str = "",
    own: Mapping[str, str] = DEFAULT_TEXTS,
) -> EmailText:
    """With a code or a link if there is one; `how_to_claim` is the operator's own text. `left` is
    how many referrals are missing to the next reward, if there is one. If `toward_rewards` was
    adjusted, our text does not say how many friends it took."""
    gettext = language.gettext
    progress = referrals if toward_rewards is None else toward_rewards
    values = {
        "newsletter": newsletter,
        "reward": reward,
        "first_name": first_name,
        "count": language.number(referrals),
        "link": hub,
    }
    written = own_texts.write(
        email_kinds.REWARD_UNLOCKED,
        language,
        own,
        values,
        count=referrals,
        text=language.translations.gettext(_EARNED_WITH_ADJUSTMENTS)
        if progress != referrals
        else "",
    )
    if coupon_code or link:
        hub_button = Button(gettext("See all your rewards"), hub, is_main=not link)
    else:
        hub_button = Button(gettext("Claim your reward"), hub)
    blocks = (
        _code(language, coupon_code) if coupon_code else None,
        how_to_claim,
        Button(gettext("Get your reward"), link) if link else None,
        hub_button,
        _next_reward(language, next_reward, progress, left, referral_link) if next_reward else None,
    )
    return email(written.subject, *written.paragraphs, *blocks)


def _next_reward(
    language: Language, next_reward: str, referrals: int, left: int, referral_link: str
) -> NextReward:
    needed = referrals + left
    return NextReward(
        label=language.ngettext(
            "Next: {reward}, at {count} referral",
            "Next: {reward}, at {count} referrals",
            needed,
            reward=next_reward,
        ),
        left=language.ngettext("{count} more friend to go", "{count} more friends to go", left),
        percent=100 * referrals // needed,
        link_label=language.gettext("Your link:"),
        link=referral_link,
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
