package main

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver named pgx
	_ "modernc.org/sqlite"             // the driver named sqlite
)

// footprint holds the size of tables, in bytes.
type footprint struct{ total, indexes int64 }

// sampleBytes returns the size of series and sample_blocks with their indexes.
func (b *bench) sampleBytes(ctx context.Context) (footprint, error) {
	return b.tableBytes(ctx, "series", "sample_blocks")
}

// tableBytes returns the size of tables with their indexes, as whole pages with their
// free space.
func (b *bench) tableBytes(ctx context.Context, tables ...string) (footprint, error) {
	names := "'" + strings.Join(tables, "', '") + "'" // our own names
	driver, address := "pgx", b.database
	query := `SELECT CAST(SUM(pg_total_relation_size(c.oid)) AS BIGINT), CAST(SUM(pg_indexes_size(c.oid)) AS BIGINT)
		FROM pg_class c WHERE c.relname IN (` + names + `) AND c.relkind = 'r'`
	if b.engine == "sqlite" {
		// dbstat counts pages of tables and of indexes by name; the server's own
		// connections may stay open beside this one, which only reads.
		driver, address = "sqlite", "file:"+filepath.Join(b.dir, "hale.db")+"?mode=ro"
		query = `SELECT SUM(d.pgsize), SUM(CASE m.type WHEN 'index' THEN d.pgsize ELSE 0 END)
			FROM dbstat d JOIN sqlite_master m ON m.name = d.name
			WHERE m.tbl_name IN (` + names + `)`
	}
	db, err := sql.Open(driver, address)
	if err != nil {
		return footprint{}, err
	}
	defer db.Close()
	var f footprint
	if err := db.QueryRowContext(ctx, query).Scan(&f.total, &f.indexes); err != nil {
		return footprint{}, fmt.Errorf("weighing tables: %w", err)
	}
	return f, nil
}

// countSamples counts the samples of a grouped answer without decoding it.
func countSamples(body []byte) (n int) {
	const key = `"timestamp":`
	for i := 0; i+len(key) <= len(body); i++ {
		if body[i] == '"' && string(body[i:i+len(key)]) == key {
			n++
			i += len(key) - 1
		}
	}
	return n
}
