"""Letters are rows first, SMTP later: `letters` writes them, `words` finds what they say, `sending` brings them out."""
