package pgtemp

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// StartStandby creates a second cluster that replicates c with streaming replication, and
// waits until it accepts connections. c must be Durable. Each commit waits for the standby.
func (c *Cluster) StartStandby(ctx context.Context) (*Cluster, error) {
	bin, err := Find()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "hale-pg-")
	if err != nil {
		return nil, fmt.Errorf("pgtemp: making a folder: %w", err)
	}
	standby := &Cluster{dir: dir}
	if err := standby.replicate(ctx, bin, c); err != nil {
		standby.abandon()
		return nil, err
	}
	for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
		if err := Exec(ctx, c.URL(), statement); err != nil {
			standby.abandon()
			return nil, err
		}
	}
	if err := c.waitSynchronous(ctx); err != nil {
		standby.abandon()
		return nil, err
	}
	return standby, nil
}

// waitSynchronous waits until commits wait for a standby, at most a minute.
func (c *Cluster) waitSynchronous(ctx context.Context) error {
	db, err := sql.Open("pgx", c.URL())
	if err != nil {
		return fmt.Errorf("pgtemp: %w", err)
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		var ready bool
		err := db.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync')").Scan(&ready)
		if err != nil {
			return fmt.Errorf("pgtemp: waiting for the standby: %w", err)
		}
		if ready {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (c *Cluster) replicate(ctx context.Context, bin string, primary *Cluster) error {
	owner, err := c.chown()
	if err != nil {
		return err
	}
	copying := exec.CommandContext(ctx, filepath.Join(bin, "pg_basebackup"), "-D", filepath.Join(c.dir, "data"),
		"-h", primary.dir, "-p", "5432", "-U", superuser, "--checkpoint=fast", "--wal-method=stream", "--no-sync")
	copying.SysProcAttr, copying.Dir = owner, c.dir
	if out, err := copying.CombinedOutput(); err != nil {
		return fmt.Errorf("pgtemp: pg_basebackup: %w\n%s", err, out)
	}
	err = c.appendSettings("primary_conninfo = 'host=" + primary.dir + " port=5432 user=" + superuser + " application_name=standby'\n")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(c.dir, "data", "standby.signal"), nil, 0o600); err != nil {
		return fmt.Errorf("pgtemp: %w", err)
	}
	if err := c.serve(filepath.Join(bin, "postgres"), owner); err != nil {
		return err
	}
	return c.waitReady(ctx)
}

// Promote makes a standby the primary.
func (c *Cluster) Promote(ctx context.Context) error {
	return Exec(ctx, c.URL(), "SELECT pg_promote()")
}

// EitherURL returns the address of a database on the cluster that takes writes, for the
// role of the service.
func EitherURL(database string, clusters ...*Cluster) string {
	var hosts, ports []string
	for _, c := range clusters {
		hosts, ports = append(hosts, c.dir), append(ports, "5432")
	}
	return "postgres://" + appRole + "@/" + database + "?sslmode=disable&target_session_attrs=read-write" +
		"&host=" + strings.Join(hosts, ",") + "&port=" + strings.Join(ports, ",")
}
