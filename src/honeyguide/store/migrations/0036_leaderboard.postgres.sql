-- works-with: 0020
-- concurrently: advocate_leaderboard
-- The first places of a campaign's leaderboard, however many advocates are not on it.
CREATE INDEX CONCURRENTLY advocate_leaderboard ON advocate (campaign_id, verified, subscriber_id) WHERE on_leaderboard = 1;
