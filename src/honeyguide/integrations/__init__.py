"""Email platforms: one interface (`platform`), one small module per platform, sync both ways."""
