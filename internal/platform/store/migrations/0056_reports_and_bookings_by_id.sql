-- +goose Up

-- Indexes for the other reports of a message, and for sandbox bookings whose team is not
-- known yet.
CREATE INDEX inbox_reports_by_message ON inbox_reports (message_id);
CREATE INDEX sandbox_bookings_by_id ON sandbox_bookings (id);
