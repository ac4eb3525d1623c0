package storetest

import (
	"bytes"
	"context"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"

	"hale/internal/platform/store"
)

// ProxyPassword is the password in the address of a Proxy. Tests search logs and answers
// for it.
const ProxyPassword = "password-canary"

// Cut is the moment at which a Proxy closes a connection.
type Cut int

// The moments of Proxy.CutWith.
const (
	// BeforeStatement loses the statement with the mark.
	BeforeStatement Cut = iota + 1
	// BeforeCommit loses the COMMIT, so that PostgreSQL rolls back.
	BeforeCommit
	// AfterCommit loses the answer to the COMMIT, which PostgreSQL has carried out.
	AfterCommit
)

// Proxy is a TCP proxy on loopback in front of a PostgreSQL database. Tests use it to
// break connections.
type Proxy struct {
	tb              testing.TB
	network, server string // of PostgreSQL
	address         string // of the proxy

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]struct{}
	sessions map[*proxied]struct{}
	mark     string
	cut      Cut
	freezes  bool   // cut freezes the connection in place of closing it
	refusal  []byte // sent to new connections in place of a connection to PostgreSQL
	stalled  bool   // new connections get no answer
}

// NewProxy starts a proxy in front of a PostgreSQL database until the test ends. It
// returns the database with the address of the proxy.
func NewProxy(tb testing.TB, d Database) (*Proxy, Database) {
	tb.Helper()
	config, err := pgx.ParseConfig(d.URL)
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{tb: tb, network: "tcp", conns: map[net.Conn]struct{}{}, sessions: map[*proxied]struct{}{}, address: "127.0.0.1:0"}
	port := strconv.Itoa(int(config.Port))
	p.server = net.JoinHostPort(config.Host, port)
	if strings.HasPrefix(config.Host, "/") {
		p.network, p.server = "unix", filepath.Join(config.Host, ".s.PGSQL."+port)
	}
	p.Accept()
	tb.Cleanup(p.Refuse)
	proxied := url.URL{
		Scheme: "postgres", User: url.UserPassword(config.User, ProxyPassword), Host: p.address, Path: "/" + config.Database,
		RawQuery: "sslmode=disable&connect_timeout=1",
	}
	return p, Database{Engine: store.Postgres, URL: proxied.String(), Dir: d.Dir}
}

// Accept accepts connections, also after Refuse, RefuseWith, Stall and Freeze.
func (p *Proxy) Accept() {
	p.tb.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refusal, p.stalled = nil, false
	if p.listener != nil {
		return
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", p.address)
	if err != nil {
		p.tb.Fatal(err)
	}
	p.listener, p.address = listener, listener.Addr().String()
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
}

// Refuse closes all connections and refuses new ones.
func (p *Proxy) Refuse() {
	p.mu.Lock()
	if p.listener != nil {
		_ = p.listener.Close()
		p.listener = nil
	}
	p.mu.Unlock()
	p.Close()
}

// RefuseWith closes all connections. It answers new ones with an error of PostgreSQL.
func (p *Proxy) RefuseWith(code, message string) {
	p.tb.Helper()
	text, err := (&pgproto3.ErrorResponse{Severity: "FATAL", SeverityUnlocalized: "FATAL", Code: code, Message: message}).Encode(nil)
	if err != nil {
		p.tb.Fatal(err)
	}
	p.mu.Lock()
	p.refusal = text
	p.mu.Unlock()
	p.Close()
}

// Stall closes all connections. It accepts new ones and never answers them.
func (p *Proxy) Stall() {
	p.mu.Lock()
	p.stalled = true
	p.mu.Unlock()
	p.Close()
}

// Freeze stops forwarding in both directions, and closes nothing. New connections get no
// answer. The operating system of the client sees a living connection. Connections of this
// time forward nothing after Accept.
func (p *Proxy) Freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stalled = true
	for c := range p.sessions {
		c.frozen = true
	}
}

// Close closes all connections.
func (p *Proxy) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
	clear(p.conns)
}

// CutWith closes one connection: that of the next transaction with mark in a statement
// or a parameter.
func (p *Proxy) CutWith(mark string, cut Cut) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mark, p.cut, p.freezes = mark, cut, false
}

// FreezeWith freezes one connection, which CutWith would close.
func (p *Proxy) FreezeWith(mark string, cut Cut) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mark, p.cut, p.freezes = mark, cut, true
}

// HasCut reports whether the connection of CutWith or FreezeWith was closed or frozen.
func (p *Proxy) HasCut() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut == 0
}

// serve copies between a client and PostgreSQL until one of them closes.
func (p *Proxy) serve(client net.Conn) {
	defer client.Close()
	p.mu.Lock()
	p.conns[client] = struct{}{}
	refusal, stalled := p.refusal, p.stalled
	p.mu.Unlock()
	if refusal != nil || stalled {
		_, _ = client.Read(make([]byte, 1024)) // the startup message
		_, _ = client.Write(refusal)
		_, _ = client.Read(make([]byte, 1)) // until it is closed
		return
	}
	server, err := new(net.Dialer).DialContext(context.Background(), p.network, p.server)
	if err != nil {
		return
	}
	defer server.Close()
	p.mu.Lock()
	p.conns[server] = struct{}{}
	p.mu.Unlock()
	one := &proxied{proxy: p}
	p.mu.Lock()
	p.sessions[one] = struct{}{}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.sessions, one)
		p.mu.Unlock()
	}()
	go func() {
		defer client.Close()
		one.transfer(client, server, one.losesAnswer)
	}()
	one.transfer(server, client, one.losesRequest)
}

// transfer copies until an error, or until loses returns true for bytes. It drops the bytes
// of a frozen connection.
func (c *proxied) transfer(to, from net.Conn, loses func([]byte) bool) {
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		if err != nil || loses(buffer[:n]) && !c.isFrozen() {
			return
		}
		if c.isFrozen() {
			continue
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// proxied is one connection through a Proxy.
type proxied struct {
	proxy  *Proxy
	marked bool // the mark was sent; guarded by proxy.mu
	frozen bool // guarded by proxy.mu
}

func (c *proxied) isFrozen() bool {
	c.proxy.mu.Lock()
	defer c.proxy.mu.Unlock()
	return c.frozen
}

func (c *proxied) losesRequest(text []byte) bool {
	p := c.proxy
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut != 0 && bytes.Contains(text, []byte(p.mark)) {
		c.marked = true
	}
	if c.marked && (p.cut == BeforeStatement || p.cut == BeforeCommit && bytes.Contains(text, []byte("COMMIT"))) {
		p.cut, c.marked, c.frozen = 0, false, p.freezes
		return true
	}
	return false
}

func (c *proxied) losesAnswer(text []byte) bool {
	p := c.proxy
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.marked && p.cut == AfterCommit && bytes.Contains(text, []byte("COMMIT\x00")) {
		p.cut, c.marked, c.frozen = 0, false, p.freezes
		return true
	}
	return false
}
