package store

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

const (
	// lossLimit is the time after which a connection fails whose packets are lost. Without
	// it, Linux sends lost packets again for a quarter of an hour.
	lossLimit = 20 * time.Second
	// keepAliveProbes is the number of lost probes after which a connection fails.
	keepAliveProbes = 3
	probeInterval   = lossLimit / (keepAliveProbes + 1)
	// pingLimit limits the check of an idle connection before its next use.
	pingLimit = 5 * time.Second
)

// errNoAnswer is the error of a PostgreSQL server, or of the network to it, that is silent.
var errNoAnswer = errors.New("store: PostgreSQL does not answer")

// postgresDialer connects to PostgreSQL.
type postgresDialer struct {
	net.Dialer
	answerLimit time.Duration
}

// newPostgresDialer returns a dialer whose connections fail when the network loses all
// packets for lossLimit. The operating system notices that, so statements may take longer.
func newPostgresDialer(connect, answerLimit time.Duration) *postgresDialer {
	return &postgresDialer{net.Dialer{
		Timeout:         connect,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: probeInterval, Interval: probeInterval, Count: keepAliveProbes},
		Control:         limitLoss,
	}, answerLimit}
}

func (d *postgresDialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &limitedConn{Conn: c, limit: d.answerLimit}, nil
}

// limitedConn is a connection to PostgreSQL that fails after a time without an answer.
// The driver reads only while it waits for one.
type limitedConn struct {
	net.Conn

	mu           sync.Mutex
	limit        time.Duration // of one read or write; 0 means none
	readDeadline time.Time     // of the driver, for its context; zero means none
	sendDeadline time.Time     // the same for writes
}

func (c *limitedConn) setLimit(limit time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = limit
}

// earliest returns the end of a read or write that begins now.
func (c *limitedConn) earliest(deadline time.Time) time.Time {
	if c.limit == 0 {
		return deadline
	}
	if end := time.Now().Add(c.limit); deadline.IsZero() || end.Before(deadline) {
		return end
	}
	return deadline
}

func (c *limitedConn) Read(b []byte) (int, error) {
	c.mu.Lock()
	err := c.Conn.SetReadDeadline(c.earliest(c.readDeadline))
	c.mu.Unlock()
	if err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(b)
	return n, c.explain(err, &c.readDeadline)
}

func (c *limitedConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	err := c.Conn.SetWriteDeadline(c.earliest(c.sendDeadline))
	c.mu.Unlock()
	if err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(b)
	return n, c.explain(err, &c.sendDeadline)
}

// explain returns errNoAnswer for a timeout that is not that of the driver's deadline.
// The driver keeps a connection after a timeout, also after one of the operating system.
func (c *limitedConn) explain(err error, deadline *time.Time) error {
	var timeout net.Error
	if err == nil || !errors.As(err, &timeout) || !timeout.Timeout() {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(err, os.ErrDeadlineExceeded) && !deadline.IsZero() && !time.Now().Before(*deadline) {
		return err
	}
	return fmt.Errorf("%w: %s", errNoAnswer, err.Error())
}

// SetDeadline sets the deadlines of the driver.
func (c *limitedConn) SetDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readDeadline, c.sendDeadline = t, t
	return c.Conn.SetDeadline(t)
}

// SetReadDeadline sets the deadline of the driver for reads.
func (c *limitedConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readDeadline = t
	return c.Conn.SetReadDeadline(t)
}

// SetWriteDeadline sets the deadline of the driver for writes.
func (c *limitedConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sendDeadline = t
	return c.Conn.SetWriteDeadline(t)
}

// setAnswerLimit limits the wait for each answer on a connection, until its next use.
func setAnswerLimit(c *pgx.Conn, limit time.Duration) {
	raw := c.PgConn().Conn()
	if encrypted, ok := raw.(*tls.Conn); ok {
		raw = encrypted.NetConn()
	}
	if limited, ok := raw.(*limitedConn); ok {
		limited.setLimit(limit)
	}
}

// limitAnswers limits the wait for each answer on a connection of the pool.
func limitAnswers(raw *sql.Conn, limit time.Duration) {
	_ = raw.Raw(func(driver any) error { // the next statement has the error of a lost connection
		if c, ok := driver.(*stdlib.Conn); ok {
			setAnswerLimit(c.Conn(), limit)
		}
		return nil
	})
}

// openPool opens a pool of connections. It checks a connection that was idle before its
// next use, and replaces it if there is no answer.
func (db *DB) openPool(cfg *pgx.ConnConfig, answerLimit time.Duration) *sql.DB {
	own := cfg.Copy()
	own.DialFunc = newPostgresDialer(cfg.ConnectTimeout, answerLimit).dial
	return stdlib.OpenDB(*own,
		stdlib.OptionAfterConnect(db.checkInstallation),
		stdlib.OptionShouldPing(func(_ context.Context, p stdlib.ShouldPingParams) bool {
			setAnswerLimit(p.Conn, pingLimit)
			return p.IdleDuration > time.Second
		}),
		stdlib.OptionResetSession(func(_ context.Context, c *pgx.Conn) error {
			setAnswerLimit(c, answerLimit)
			return nil
		}),
	)
}

type unlimitedKey struct{}

// withoutAnswerLimit returns a context whose transactions may wait for an answer as long as
// the connection is alive.
func withoutAnswerLimit(ctx context.Context) context.Context {
	return context.WithValue(ctx, unlimitedKey{}, true)
}

// isLimited reports whether Options.AnswerLimit applies to the statements of a context.
// Otherwise its deadline does.
func isLimited(ctx context.Context) bool {
	_, bounded := ctx.Deadline()
	return !bounded && ctx.Value(unlimitedKey{}) == nil
}
