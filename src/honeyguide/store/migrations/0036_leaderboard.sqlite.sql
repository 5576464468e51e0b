-- works-with: 0020
-- The first places of a campaign's leaderboard, however many advocates are not on it.
CREATE INDEX advocate_leaderboard ON advocate (campaign_id, verified, subscriber_id) WHERE on_leaderboard = 1;
