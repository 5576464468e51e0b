"""Pictures that outlive an error in their form.

A chosen picture is stored at once. The form that is shown again names it in a hidden field, so that
nobody has to choose it twice; browsers cannot fill in a file.
"""

from __future__ import annotations

from honeyguide.kernel.errors import Invalid
from honeyguide.pages.dashboard.page_request import PageRequest
from honeyguide.partners import logos, publications
from honeyguide.partners.logos import Shape, StoredLogo
from honeyguide.store.reading import reads_account


async def keep(request: PageRequest, shape: Shape) -> StoredLogo | None:
    """The picture that was chosen now or on an earlier try, if any."""
    store, account_id = request.services.store, request.who.account_id
    if (file := request.file(shape.param)) is None:
        kept_id = request.text(_field(shape))
        return (
            await store.read(
                reads_account(
                    publications.get_own_logo, request.services.site, account_id, request.now_ms
                ),
                kept_id,
            )
            if kept_id
            else None
        )
    data = await file.read(logos.SIZE_LIMIT + 1)
    if not data:
        raise Invalid("{field} is empty. Choose another file.", param=shape.param)
    clean = await logos.sanitize_apart(data, shape)
    made = await logos.store(clean, request.services.site.logo_folder)
    await store.write(publications.add_logo, account_id, made)
    request.kept[_field(shape)] = made.id
    return made


def kept_id(request: PageRequest, shape: Shape) -> str:
    """For the hidden field of a form that is shown again."""
    return request.kept.get(_field(shape)) or request.text(_field(shape))


def _field(shape: Shape) -> str:
    return f"kept_{shape.param}"
