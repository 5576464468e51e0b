"""How everything grows: the same request, search, export, job and delivery with 100,000 subscribers
and with 10 million (SQLite: a million).
"""
