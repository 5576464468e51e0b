"""What Prometheus reads from a server, as numbers."""

import re

from prometheus_client.parser import text_string_to_metric_families

NAME = re.compile(r"\b(?:honeyguide|process)_[a-z_]+[a-z]\b")


class Scrape:
    """`scrape("honeyguide_errors_total", code="overloaded")` is a number, or None if it is
    missing.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        families = list(text_string_to_metric_families(text))
        self.samples = [sample for family in families for sample in family.samples]
        self.names = {sample.name for sample in self.samples}
        self.names |= {family.name for family in families if family.type == "histogram"}

    def __call__(self, name: str, **labels: str) -> float | None:
        found = [
            sample.value
            for sample in self.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        ]
        return sum(found) if found else None
