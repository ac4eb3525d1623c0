-- +goose Up

-- Each push from an iPhone asks which of the user's resources an Apple Health export has.
CREATE INDEX series_of_exports ON series (team_id, user_id, resource)
    WHERE provider = 'apple_health_kit' AND (app_id LIKE 'com.apple.health.________-____-5%' OR app_id LIKE 'healthkit.source.%');
