"""The languages of reader pages and of emails to subscribers. The dashboard is in English only."""
