-- +goose Up

-- The order that a portal link opens; NULL for the person's first page.
ALTER TABLE portal_links ADD COLUMN order_id UUID;
