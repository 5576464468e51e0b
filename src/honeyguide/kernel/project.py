"""Where the project is in public, for those who look beyond this installation."""

HOME = "https://github.com/honeyguide/honeyguide"
DOCUMENTS = f"{HOME}/tree/main/docs"
ISSUES = f"{HOME}/issues"
