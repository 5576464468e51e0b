"""Pages for readers: shared links, hosted signup, the referral page. They carry the newsletter's branding."""
