-- +goose Up

-- The statuses of orders and appointments, and the methods of orders, are listed
-- in Go alone: a new one needs no migration.
-- postgres: begin
ALTER TABLE orders DROP CONSTRAINT orders_status_check;
ALTER TABLE orders DROP CONSTRAINT orders_method_check;
ALTER TABLE appointments DROP CONSTRAINT appointments_status_check;
-- postgres: end
-- sqlite: begin
-- SQLite removes a CHECK by a change of the stored text of the table, without a
-- copy of its rows: https://www.sqlite.org/lang_altertable.html, section 7.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(replace(sql,
	' CHECK (method IN (''testkit'', ''walk_in_test'', ''at_home_phlebotomy'', ''on_site_collection''))', ''),
	' CHECK (status IN (
		''ordered'', ''awaiting_registration'', ''registered'', ''requisition_created'', ''requisition_bypassed'',
		''transit_customer'', ''out_for_delivery'', ''with_customer'', ''problem_in_transit_customer'', ''transit_lab'', ''problem_in_transit_lab'',
		''appointment_pending'', ''appointment_scheduled'', ''appointment_cancelled'', ''redraw_available'', ''draw_completed'',
		''delivered_to_lab'', ''lab_processing_blocked'', ''partial_results'', ''completed'', ''corrected'',
		''failure_to_deliver_to_customer'', ''failure_to_deliver_to_lab'', ''lost'', ''sample_error'', ''cancelled'', ''do_not_process''))', '')
WHERE type = 'table' AND name = 'orders';
UPDATE sqlite_schema SET sql = replace(sql,
	' CHECK (status IN ('''', ''pending'', ''reserved'', ''scheduled'', ''in_progress'', ''completed'', ''cancelled''))', '')
WHERE type = 'table' AND name = 'appointments';
PRAGMA writable_schema = RESET;
-- A change of the schema makes other connections read it again.
CREATE TABLE schema_change (id INTEGER);
DROP TABLE schema_change;
-- sqlite: end
