"""The dashboard: server-rendered pages over the same domain verbs as the API. `routes` is its one table of addresses."""
