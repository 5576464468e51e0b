"""Signup forms of a newsletter whose account is paused or is being closed."""

from __future__ import annotations

from honeyguide.kernel.errors import Forbidden
from honeyguide.languages.language import translatable
from honeyguide.pages.readers.page_branding import PageBranding

PAUSED = translatable("You can’t sign up for {newsletter} right now. Please try again later.")
CLOSING = translatable("{newsletter} is closing, so nobody can sign up any more.")


class SignupsStopped(Forbidden):
    """With the branding of the newsletter that it is about."""

    code = "signups_stopped"

    def __init__(self, template: str, brand: PageBranding) -> None:
        super().__init__(template, newsletter=brand.name)
        self.brand = brand

    @property
    def title(self) -> str:
        """To be translated."""
        if self.template == PAUSED:
            return translatable("Signups are paused")
        return translatable("Signups have ended")


def check(brand: PageBranding) -> None:
    if brand.campaign.is_closing:
        raise SignupsStopped(CLOSING, brand)
    if brand.campaign.is_paused:
        raise SignupsStopped(PAUSED, brand)
