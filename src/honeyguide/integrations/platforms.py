"""The platforms there are, in the order of their cards on the dashboard."""

from __future__ import annotations

from honeyguide.integrations.beehiiv import Beehiiv
from honeyguide.integrations.brevo import Brevo
from honeyguide.integrations.buttondown import Buttondown
from honeyguide.integrations.generic import Generic
from honeyguide.integrations.ghost import Ghost
from honeyguide.integrations.kit import Kit
from honeyguide.integrations.listmonk import Listmonk
from honeyguide.integrations.mailchimp import Mailchimp
from honeyguide.integrations.mailerlite import MailerLite
from honeyguide.integrations.platform import Platform

_ALL: tuple[Platform, ...] = (
    Ghost(),
    Mailchimp(),
    Kit(),
    Beehiiv(),
    Listmonk(),
    Buttondown(),
    MailerLite(),
    Brevo(),
    Generic(),
)

PLATFORMS: dict[str, Platform] = {each.about.key: each for each in _ALL}
