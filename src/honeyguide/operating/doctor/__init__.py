"""Is this installation set up well? One list of checks for `honeyguide doctor`, `honeyguide init`
and the administration page: `judgements` decide, `records` and `checks` find out what they need.
"""
