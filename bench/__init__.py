"""What we claim about speed, runnable by anyone: `make bench`, or `python -m bench --quick` for a
look.
"""
