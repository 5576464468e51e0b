"""A small partner network for tests: a publication with a logo, its program, and partners who
joined it."""

import base64
import io
from functools import lru_cache
from typing import Any

from PIL import Image

from honeyguide.partners import logos, publications
from honeyguide.partners.logos import Logo, sanitize
from honeyguide.partners.publications import PublicationFields
from tests.support.service import Member


@lru_cache
def png(colour: tuple[int, int, int] = (165, 96, 0), size: int = 64) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (size, size), colour).save(out, "PNG")
    return out.getvalue()


def logo_field() -> str:
    return base64.b64encode(png()).decode()


def publication_fields(**fields: Any) -> dict[str, Any]:
    return {
        "name": "The Morning Wax",
        "description": "Bees and honey",
        "categories": ["food & drink", "lifestyle"],
        "logo": logo_field(),
        "audience_gender": "mixed",
        "income_levels": ["$50k - $75k", "$150k+"],
        "age_ranges": ["25 - 39"],
        **fields,
    }


@lru_cache
def _clean_logo() -> Logo:
    return sanitize(png())


def publish(owner: Member, **fields: Any) -> dict[str, Any]:
    """A publication as the API makes it, but its logo is decoded once here and not in a new child
    process each time.
    """
    given = {
        name: value for name, value in publication_fields(**fields).items() if value is not None
    }
    del given["logo"]
    service = owner.service
    logo = service.run(logos.store(_clean_logo(), service.services.site.logo_folder))
    made = owner.make(publications.create, PublicationFields(**given), logo)
    return owner.get(f"/v2/publications/{made.id}").json()["publication"]


def offer(
    owner: Member, publication: dict[str, Any] | None = None, **fields: Any
) -> dict[str, Any]:
    publication = publication or publish(owner)
    body = {
        "max_payout": 90,
        "total_budget": 300,
        "cpa": 3,
        "redirect_url": "https://wax.example/welcome",
        "publication_uuid": publication["uuid"],
        "show_in_directory": True,
        **fields,
    }
    answer = owner.post("/v2/partner_programs", body)
    assert answer.status_code == 201, answer.text
    return answer.json()["partner_program"]


def join(partner: Member, program: dict[str, Any]) -> dict[str, Any]:
    answer = partner.post(f"/v2/partner_network/partner_programs/{program['uuid']}/join")
    assert answer.status_code in (200, 201), answer.text
    return answer.json()["partner_campaign"]
