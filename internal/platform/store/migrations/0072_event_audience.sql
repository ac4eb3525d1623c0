-- +goose Up

-- Which endpoints an event is delivered to: 0 those that listen to its type, 1 only those
-- that name its type, 2 none. The feed has every event.
ALTER TABLE events ADD COLUMN audience INT NOT NULL DEFAULT 0;
