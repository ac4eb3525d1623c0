package store

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// maxTries limits the attempts of a transaction that loses a race.
const maxTries = 20

// errAddress replaces the error of the parser, which would print the password.
var errAddress = errors.New("store: the PostgreSQL address does not parse")

// connectTimeout limits an attempt to connect, unless the address has connect_timeout. A
// machine that has vanished would otherwise hold requests for minutes.
const connectTimeout = 5 * time.Second

func (db *DB) openPostgres(ctx context.Context, o Options) error {
	db.engine = Postgres
	cfg, err := pgx.ParseConfig(o.URL)
	if err != nil {
		return errAddress
	}
	for name, value := range map[string]string{"application_name": "hale", "jit": "off", "synchronous_commit": "on"} {
		if _, given := cfg.RuntimeParams[name]; !given {
			cfg.RuntimeParams[name] = value
		}
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = connectTimeout
	}
	conns := o.Conns
	if conns == 0 {
		conns = max(16, 4*runtime.NumCPU())
	}
	limitLossOfServer(cfg)
	db.answerLimit = o.AnswerLimit
	db.pool = db.openPool(cfg, o.AnswerLimit)
	db.openMaintenance = func() *sql.DB { return db.openPool(cfg, 0) }
	db.pool.SetMaxOpenConns(conns)
	db.pool.SetMaxIdleConns(conns)
	if err := db.pool.PingContext(ctx); err != nil {
		return fmt.Errorf("store: connecting to PostgreSQL: %w", err)
	}
	return nil
}

// limitLossOfServer lets PostgreSQL notice a node that vanished. Otherwise the transactions
// of that node keep their locks for two hours.
func limitLossOfServer(cfg *pgx.ConnConfig) {
	probe := strconv.Itoa(int(probeInterval.Seconds()))
	for name, value := range map[string]string{
		"tcp_keepalives_idle": probe, "tcp_keepalives_interval": probe, "tcp_keepalives_count": strconv.Itoa(keepAliveProbes),
		"tcp_user_timeout": strconv.FormatInt(lossLimit.Milliseconds(), 10),
	} {
		if _, given := cfg.RuntimeParams[name]; !given {
			cfg.RuntimeParams[name] = value
		}
	}
}

// IsProtectedPostgres reports whether a PostgreSQL address is on this machine, or is
// reached with TLS that verifies the server. An address that does not parse is reported
// when it is opened.
func IsProtectedPostgres(url string) bool {
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return true
	}
	protected := isProtected(cfg.Host, cfg.TLSConfig)
	for _, f := range cfg.Fallbacks {
		protected = protected && isProtected(f.Host, f.TLSConfig)
	}
	return protected
}

func isProtected(host string, config *tls.Config) bool {
	ip, err := netip.ParseAddr(host)
	if strings.HasPrefix(host, "/") || host == "localhost" || err == nil && ip.IsLoopback() {
		return true
	}
	// sslmode=verify-ca verifies the certificate in a function of its own.
	return config != nil && (!config.InsecureSkipVerify || config.VerifyPeerCertificate != nil)
}

// Every transaction sets its isolation, because a role or a database may have
// another default.
const (
	// beginReading gives all statements one snapshot.
	beginReading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
	// beginWriting lets each statement see all earlier commits. So a statement after
	// a lock sees the changes made under that lock.
	beginWriting = "BEGIN ISOLATION LEVEL READ COMMITTED"
)

func (db *DB) postgresRead(ctx context.Context, fn func(tx *Tx) error) (err error) {
	defer db.markOutdated(ctx, &err)
	return db.postgresTx(ctx, beginReading, true, fn)
}

func (db *DB) postgresWrite(ctx context.Context, fn func(tx *Tx) error) (err error) {
	defer db.markOutdated(ctx, &err)
	for try := 1; ; try++ {
		start := time.Now()
		err := db.postgresTx(ctx, beginWriting, false, fn)
		if err == nil {
			db.observe(time.Since(start), 1)
			return nil
		}
		if try == maxTries || !canRetry(err) {
			return err
		}
		select {
		case <-time.After(time.Duration(rand.Int64N(int64(try) * int64(2*time.Millisecond)))): //nolint:gosec // spreads retries
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// postgresTx runs fn in one transaction. It begins with the first statement of fn,
// which also sets the team for row-level security.
func (db *DB) postgresTx(ctx context.Context, begin string, readOnly bool, fn func(tx *Tx) error) (err error) {
	raw, err := db.pool.Conn(ctx)
	if err != nil {
		return fmt.Errorf("store: taking a connection: %w", err)
	}
	defer raw.Close()
	limited := isLimited(ctx)
	if !limited {
		limitAnswers(raw, 0)
	}
	tx := &Tx{db: db, pg: raw, now: db.Now(), readOnly: readOnly, begin: begin, scope: scope(ctx), drops: db.keys.drops.Load()}
	open := true
	defer func() {
		if open { // fn failed or panicked
			rollback(ctx, raw)
		}
		if isReadOnly(err) { // another server may be the primary now
			discard(raw)
		}
	}()
	if err := fn(tx); err != nil {
		return markLost(ctx, raw, err)
	}
	if tx.finish && !tx.ended { // fn returned no error although Finish failed
		return errStatementFailed
	}
	if tx.begin == "" && !tx.ended {
		if !limited {
			limitAnswers(raw, db.answerLimit)
		}
		if err := commit(ctx, raw); err != nil {
			if readOnly {
				return markLost(ctx, raw, fmt.Errorf("store: ending a read: %w", err))
			}
			return markLost(ctx, raw, commitFailed(err))
		}
	}
	open = false
	tx.committed()
	return nil
}

// commit commits the transaction.
func commit(ctx context.Context, raw *sql.Conn) error {
	return raw.Raw(func(driver any) error {
		c, ok := driver.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("store: committing on a %T", driver)
		}
		if c.Conn().IsClosed() || ctx.Err() != nil {
			return errors.Join(errNotSent, ctx.Err())
		}
		return checkCommit(c.Conn().Exec(ctx, "COMMIT"))
	})
}

// checkCommit checks the answer to a COMMIT. If a statement of the transaction failed,
// PostgreSQL answers with ROLLBACK and no error.
func checkCommit(tag pgconn.CommandTag, err error) error {
	if err == nil && tag.String() != "COMMIT" {
		return errStatementFailed
	}
	return err
}

// errNotSent is the error of a COMMIT or a batch that was not sent. pgconn.SafeToRetry cannot tell:
// it is also true if a connection closes while the driver waits for the answer.
var errNotSent = errors.New("store: the connection was closed before")

// commitFailed describes a COMMIT that failed. If PostgreSQL refused it, or it was never
// sent, nothing is committed.
func commitFailed(err error) error {
	var refused *pgconn.PgError
	isRefused := errors.As(err, &refused) && refused.SeverityUnlocalized == "ERROR"
	if isRefused || errors.Is(err, errStatementFailed) || errors.Is(err, errNotSent) {
		return fmt.Errorf("store: the commit changed nothing: %w", err)
	}
	return fmt.Errorf("%w: %w", errCommitUnknown, err)
}

// errCommitUnknown marks a write that may or may not be committed: COMMIT failed or
// was not answered.
var errCommitUnknown = errors.New("store: committing")

// errStatementFailed is returned for a transaction that continued after a failed
// statement.
var errStatementFailed = errors.New("store: a statement of the transaction failed, so nothing was committed")

// errEnded is returned for a statement after Finish.
var errEnded = errors.New("store: a statement after the end of the transaction")

// rollback ends the transaction, also after the request ended. The pool discards a
// connection that cannot roll back.
func rollback(ctx context.Context, raw *sql.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if _, err := raw.ExecContext(ctx, "ROLLBACK"); err != nil {
		discard(raw)
	}
}

// discard removes a connection from the pool.
func discard(raw *sql.Conn) {
	_ = raw.Raw(func(any) error { return errBadConn })
}

// ErrLostRace is returned by a function of Write whose compare-and-set failed
// because of another transaction. Write runs the function again.
var ErrLostRace = errors.New("store: another transaction was faster")

func canRetry(err error) bool {
	if errors.Is(err, errCommitUnknown) {
		return false
	}
	if errors.Is(err, ErrLostRace) {
		return true
	}
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}
