"""Emails are rows first and sent later: `emails` stores them, `texts` says what they say, `sending`
sends them.
"""
