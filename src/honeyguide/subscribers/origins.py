"""How a signup reached us. One row for each origin has all that is said about it."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class Origin(StrEnum):
    label: str
    """In filters and lists."""
    joined: str
    """After "Joined"."""
    is_own_list: bool
    """They were on a list that the owner keeps elsewhere."""
    is_hosted: bool
    """They filled in a form of ours, so nobody but us has looked at them."""

    def __new__(
        cls,
        code: str,
        label: str = "",
        joined: str = "",
        is_own_list: bool = False,
        is_hosted: bool = False,
    ) -> Self:
        origin = str.__new__(cls, code)
        origin._value_ = code
        origin.label, origin.joined = label, joined
        origin.is_own_list, origin.is_hosted = is_own_list, is_hosted
        return origin

    API = "api", "API or added by you", "through the API, or added by you"
    SIGNUP = "signup", "Signup page", "on your signup page", False, True
    MAGIC = "magic", "Magic link", "with a magic link", False, True
    IMPORT = "import", "Import", "by import", True
    EMBED = "embed", "Form on your website", "on your website", False, True
    PLATFORM = "platform", "Email platform", "on your email platform", True


# Without those that a newer version wrote: `get` them.
LABELS = {origin.value: origin.label for origin in Origin}
JOINED = {origin.value: origin.joined for origin in Origin}
FROM_OWN_LIST = frozenset(origin for origin in Origin if origin.is_own_list)
