"""What readers are told when something is refused, in their language."""

from __future__ import annotations

from honeyguide.kernel.errors import Fault, Required, TooMany
from honeyguide.languages.language import Language, translatable
from honeyguide.pages.forms import Fields, FormErrors

# The domain knows no languages; these are the sentences of its that readers may see.
FROM_THE_DOMAIN = (
    translatable("{field} must be at most {limit:,} characters long."),
    translatable("{field} must not contain NUL characters."),
    translatable("Too many attempts. Try again {wait}."),
    translatable("A shipping address is required."),
    translatable(
        "{field} must be {least} to {most} letters (A to Z), digits, hyphens or underscores."
    ),
    translatable("{field} is reserved; choose another."),
    translatable("{field} contains a word that we do not allow; choose another."),
    translatable("{field} is already taken; choose another."),
    translatable("No more than {most} new codes a year. All earlier codes keep working."),
)


def sentence(language: Language, fault: Fault, label: str | None = None) -> str:
    """What the fault says; `label` is the name that the form gives to its field."""
    values = fault.values
    if isinstance(fault, TooMany):
        values = {**values, "wait": language.time_from_now(fault.retry_after_s)}
    return language.gettext(fault.template, field=label or fault.param, **values)


def by_field(language: Language, fault: Fault, fields: Fields) -> dict[str, str]:
    """The sentences of a refused form under their fields' names; "" is the whole form."""
    if isinstance(fault, FormErrors):
        return {name: language.gettext(text) for name, text in fault.errors.items()}
    field = fields.get(fault.param or "")
    if field is None or fault.param is None:
        return {"": sentence(language, fault)}
    if isinstance(fault, Required) and field.ask:
        return {fault.param: language.gettext(field.ask)}
    return {fault.param: sentence(language, fault, language.gettext(field.label))}
