package pgtemp

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver named pgx
)

const (
	superuser = "postgres"
	// appRole owns the databases of tests.
	appRole = "hale"
)

func (c *Cluster) createRole(ctx context.Context) error {
	return Exec(ctx, c.URL(), "CREATE ROLE "+appRole+" LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE")
}

// CreateDatabase creates an empty database, owned by the role of the service, and
// returns its address for that role.
func (c *Cluster) CreateDatabase(ctx context.Context, name string) (string, error) {
	return CreateDatabase(ctx, c.URL(), name, "")
}

// CreateDatabase creates a database on the cluster at the superuser's address admin:
// a copy of template, or an empty one if template is "".
func CreateDatabase(ctx context.Context, admin, name, template string) (string, error) {
	statement := "CREATE DATABASE " + name + " OWNER " + appRole
	if template != "" {
		statement += " TEMPLATE " + template
	}
	if err := Exec(ctx, admin, statement); err != nil {
		return "", err
	}
	return AppURL(admin, name)
}

// AppURL converts the superuser's address to the address of a database on the same
// cluster, for the role of the service.
func AppURL(admin, database string) (string, error) {
	parsed, err := url.Parse(admin)
	if err != nil {
		return "", fmt.Errorf("pgtemp: HALE_TEST_POSTGRES is not an address: %w", err)
	}
	parsed.User, parsed.Path = url.User(appRole), "/"+database
	return parsed.String(), nil
}

// Exec runs one statement on a new connection.
func Exec(ctx context.Context, address, statement string) error {
	db, err := sql.Open("pgx", address)
	if err != nil {
		return fmt.Errorf("pgtemp: %w", err)
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("pgtemp: %s: %w", statement, err)
	}
	return nil
}
