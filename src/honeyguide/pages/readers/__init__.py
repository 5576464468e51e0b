"""Pages for readers, with the newsletter's branding: links, hosted signup, the referral page."""
