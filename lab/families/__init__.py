"""One module per family: who signs up, when, from where, and whether they confirm. A module has a
docstring, `is_honest`, `signups(rng, count)` and, if it is honest, `people`.
"""
