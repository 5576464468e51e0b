"""`make release`: builds the files of a release. docs/releases.md says what each is."""
