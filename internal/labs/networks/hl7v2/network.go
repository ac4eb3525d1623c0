package hl7v2

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"hale/internal/labs/hl7/mllp"
	"hale/internal/labs/networks"
	"hale/internal/labs/networks/files"
)

// Network holds every lab of the settings.
type Network struct {
	// Peers counts the live nodes of this service; nil means one. With peers,
	// the node waits for an address that is in use.
	Peers func() int

	settings Settings
	// clients are the connections for orders, by the key of the settings.
	clients map[string]*mllp.Client
	// files are the folders of labs, by the same key.
	files  map[string]*files.Exchange
	peers  map[string]*peer
	server *tls.Config
	now    func() time.Time
	log    *slog.Logger
	// answerCount numbers the acknowledgements.
	answerCount atomic.Uint32
}

var (
	_ networks.Network  = (*Network)(nil)
	_ networks.Receiver = (*Network)(nil)
)

// New makes the network from checked settings, and reads the files of their
// certificates. now stamps acknowledgements and cancellations.
func New(s Settings, now func() time.Time, log *slog.Logger) (*Network, error) {
	n := &Network{settings: s, clients: map[string]*mllp.Client{}, files: map[string]*files.Exchange{}, peers: map[string]*peer{}, now: now, log: log}
	for key, lab := range s.Labs {
		if peer, err := lab.Peer.compile(); err != nil {
			return nil, fmt.Errorf("networks.%s.labs.%s.peer: %w", Slug, key, err)
		} else if peer != nil {
			n.peers[key] = peer
		}
	}
	if s.TLS != nil {
		config, err := s.TLS.load()
		if err != nil {
			return nil, fmt.Errorf("networks.%s.tls: %w", Slug, err)
		}
		if config.RootCAs != nil {
			config.ClientCAs, config.ClientAuth = config.RootCAs, tls.RequireAndVerifyClientCert
		}
		n.server = config
	}
	for slug, lab := range s.Labs {
		if lab.Files != nil {
			n.files[slug] = &files.Exchange{Settings: *lab.Files, Lab: slug, Sends: lab.Address == "", MaxSize: int64(s.MaxMessage), Log: log}
		}
		if lab.Address == "" {
			continue
		}
		client := &mllp.Client{Address: lab.Address, AnswerTimeout: lab.Timeout}
		if lab.TLS != nil {
			config, err := lab.TLS.load()
			if err != nil {
				return nil, fmt.Errorf("networks.%s.labs.%s.tls: %w", Slug, slug, err)
			}
			client.TLS = config
		}
		n.clients[slug] = client
	}
	return n, nil
}

// Slug names the network.
func (*Network) Slug() string { return Slug }

// SetAside returns by lab how many files were set aside since the start.
func (n *Network) SetAside() map[string]float64 {
	counts := map[string]float64{}
	for lab, exchange := range n.files {
		counts[lab] = float64(exchange.SetAside())
	}
	return counts
}

// Unreadable returns by lab how many files the last look at its folder could not read.
func (n *Network) Unreadable() map[string]float64 {
	counts := map[string]float64{}
	for lab, exchange := range n.files {
		counts[lab] = float64(exchange.Unreadable())
	}
	return counts
}

// CheckFolders reports the folders of this machine that cannot be used.
func (n *Network) CheckFolders() error {
	var wrong []error
	for _, key := range slices.Sorted(maps.Keys(n.files)) {
		e := n.files[key]
		if err := e.CheckFolder(e.Sends); err != nil {
			wrong = append(wrong, fmt.Errorf("networks.%s.labs.%s.files: %w", Slug, key, err))
		}
	}
	return errors.Join(wrong...)
}

// Run receives messages from labs until ctx ends: from connections and from
// folders.
func (n *Network) Run(ctx context.Context, in networks.Inbox) error {
	defer n.close()
	group, ctx := errgroup.WithContext(ctx)
	for key, exchange := range n.files {
		group.Go(func() error {
			return exchange.Run(ctx, func(ctx context.Context, raw []byte) (string, error) { return n.takeFile(ctx, in, key, raw) })
		})
	}
	group.Go(func() error {
		if n.settings.Listen == "" {
			<-ctx.Done()
			return nil
		}
		l, err := n.listen(ctx)
		if err != nil {
			return err
		}
		return n.Serve(ctx, l, in)
	})
	return group.Wait()
}

// Serve receives messages on an open listener until ctx ends. It closes the listener.
func (n *Network) Serve(ctx context.Context, l net.Listener, in networks.Inbox) error {
	n.log.Info("HL7 messages are accepted", "listen", l.Addr().String(), "tls", n.server != nil)
	if key := n.unboundLab(); key != "" {
		n.log.Warn("several labs share the listener, and any peer may speak for one of them; set its peer", "lab", key)
	}
	server := mllp.Server{
		Handle: func(ctx context.Context, raw []byte) []byte {
			return n.accept(ctx, in, origin{peer: mllp.PeerOf(ctx)}, raw)
		},
		TooLarge: n.tooLarge,
		OnAcceptError: func(err error) {
			n.log.Warn("a connection for HL7 messages could not be accepted; trying again", "error", err)
		},
		TLS:            n.server,
		MaxMessage:     n.settings.MaxMessage,
		MaxConnections: n.settings.MaxConnections,
		MaxPerAddress:  n.settings.MaxPerAddress,
		OnCrowded: func(address string) {
			n.log.Warn("an address has too many connections for HL7 messages; a connection was closed", "address", address)
		},
	}
	return server.Serve(ctx, l)
}

func (n *Network) close() {
	for _, client := range n.clients {
		client.Close()
	}
}

// load reads the files.
func (t *TLS) load() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(t.Certificate, t.Key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	if t.Authority != "" {
		pem, err := os.ReadFile(t.Authority)
		if err != nil {
			return nil, err
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New("authority: no certificate in PEM")
		}
	}
	return config, nil
}

const (
	// between two tries to listen on an address that is in use
	listenInterval = time.Second
	// for a node without peers: peers are known within their lease, and a
	// process that is replaced needs a moment to end
	listenTimeout = 30 * time.Second
	// between two log lines of a node on standby
	standbyLogInterval = time.Minute
)

// listen listens on the address of the settings. Of several nodes on one
// machine, one gets the address. The others are on standby. One of them takes
// over within a second after the first one ends. If another program had the
// address, results would be lost silently, so a node without peers logs the
// problem and fails.
func (n *Network) listen(ctx context.Context) (net.Listener, error) {
	var config net.ListenConfig
	var alone, silent time.Duration
	for {
		l, err := config.Listen(ctx, "tcp", n.settings.Listen)
		switch {
		case err == nil:
			return l, nil
		case !errors.Is(err, syscall.EADDRINUSE):
			return nil, fmt.Errorf("hl7v2: listening: %w", err)
		case n.Peers != nil && n.Peers() > 1:
			alone = 0
		case alone >= listenTimeout:
			return nil, fmt.Errorf("hl7v2: listening: %w, and not by another node of this service", err)
		default:
			alone += listenInterval
		}
		if silent <= 0 {
			n.log.Warn("the address for HL7 messages is in use; standing by to take it over", "listen", n.settings.Listen)
			silent = standbyLogInterval
		}
		silent -= listenInterval
		select {
		case <-time.After(listenInterval):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
