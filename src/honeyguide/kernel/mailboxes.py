"""Which spellings of an address reach the same mailbox, by provider.

Only what a provider is known to do is folded: a wrong guess would reject an honest subscriber. On
all other domains a `+` or a dot may be part of a name. Yahoo is left out, because its tags follow a
hyphen and a made-up base name that looks like a real one.
"""

from __future__ import annotations

from typing import NamedTuple

_SUBADDRESSING = "https://en.wikipedia.org/wiki/Email_address#Sub-addressing"


class Provider(NamedTuple):
    """With all of them, everything after a `+` reaches the same mailbox."""

    # What says so.
    source: str
    domains: str
    # Domains that are folded since there is this table.
    added: str = ""
    # A name is the same mailbox at all of these domains, and the first is compared.
    is_one: bool = False
    # Signs that make no difference.
    ignored: str = ""
    # Signs that stand for the first of them.
    alike: str = ""
    # `anything@name.domain` is `name@domain`.
    has_subdomains: bool = False


PROVIDERS = (
    Provider(
        "https://support.google.com/mail/answer/7436150",
        "gmail.com googlemail.com",
        is_one=True,
        ignored=".",
    ),
    Provider(
        "https://proton.me/support/addresses-and-aliases, and `removeEmailAlias` in "
        "https://github.com/ProtonMail/WebClients",
        "proton.me protonmail.com protonmail.ch pm.me",
        is_one=True,
        ignored=".-_",
    ),
    Provider("https://support.apple.com/118230", "icloud.com me.com mac.com", is_one=True),
    Provider(
        "https://yandex.com/support/id/authorization/email.html, and that a name may be written "
        "with a dot or a hyphen: https://yandex.com/support/id",
        "yandex.ru yandex.com ya.ru",
        added="yandex.by yandex.kz yandex.ua",
        is_one=True,
        alike="-.",
    ),
    Provider(
        "https://www.fastmail.help/hc/en-us/articles/360060591053",
        "fastmail.com fastmail.fm",
        added="fastmail.cn fastmail.co.uk fastmail.com.au fastmail.de fastmail.es fastmail.im "
        "fastmail.in fastmail.jp fastmail.mx fastmail.net fastmail.nl fastmail.org fastmail.se "
        "fastmail.to fastmail.tw fastmail.uk fastmail.us sent.com",
        has_subdomains=True,
    ),
    Provider(
        "https://www.zdnet.com/article/"
        "microsoft-adds-support-for-custom-email-addresses-in-office-365/",
        "outlook.com outlook.de outlook.es outlook.fr outlook.it outlook.jp outlook.com.br "
        "outlook.com.au hotmail.com hotmail.co.uk hotmail.de hotmail.es hotmail.fr hotmail.it "
        "hotmail.nl hotmail.se live.com live.co.uk live.ca live.de live.fr live.it live.nl live.se "
        "live.com.au msn.com",
    ),
    Provider(
        _SUBADDRESSING,
        "zoho.com zoho.eu zoho.in zohomail.com zohomail.eu zohomail.in mailbox.org posteo.de "
        "runbox.com hey.com",
    ),
)
_BY_DOMAIN = {
    domain: provider
    for provider in PROVIDERS
    for domain in f"{provider.domains} {provider.added}".split()
}
_EARLIER = frozenset(domain for provider in PROVIDERS for domain in provider.domains.split())
_GMAIL = frozenset({"gmail.com", "googlemail.com"})


def one_spelling(key: str) -> str:
    """Of the key of an address: the same for all that reach its mailbox."""
    local, _, domain = key.rpartition("@")
    provider = _BY_DOMAIN.get(domain)
    if provider is None:
        name, _, parent = domain.partition(".")
        above = _BY_DOMAIN.get(parent)
        return f"{name}@{parent}" if above is not None and above.has_subdomains else key
    # An address that is all tag keeps it, or every such address would be one person.
    local = local.partition("+")[0] or local
    local = "".join(sign for sign in local if sign not in provider.ignored) or local
    for sign in provider.alike:
        local = local.replace(sign, provider.alike[0])
    return f"{local}@{provider.domains.partition(' ')[0] if provider.is_one else domain}"


def earlier_spelling(key: str) -> str:
    """As it was compared before there was this table. Hashes that are kept for good, such as those
    of charges and of people who were erased, were made of it."""
    local, _, domain = key.rpartition("@")
    if domain in _EARLIER:
        local = local.partition("+")[0] or local
    if domain in _GMAIL:
        local, domain = local.replace(".", ""), "gmail.com"
    return f"{local}@{domain}"
