package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

// Time limits of a server.
const (
	connectTimeout = 15 * time.Second
	sessionTimeout = 2 * time.Minute
)

// connect opens a session. It ends with ctx, and after sessionTimeout.
func (s *SFTP) connect(ctx context.Context) (fileSystem, error) {
	config, err := s.clientConfig()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, sessionTimeout)
	dialer := net.Dialer{Timeout: connectTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", s.Address)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("files: connecting: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() }) // ends every call on it
	end := func() { stop(); cancel(); conn.Close() }
	secure, channels, requests, err := ssh.NewClientConn(conn, s.Address, config)
	if err != nil {
		end()
		return nil, fmt.Errorf("files: signing in: %w", err)
	}
	server := ssh.NewClient(secure, channels, requests)
	client, err := sftp.NewClient(server)
	if err != nil {
		end()
		return nil, fmt.Errorf("files: starting SFTP: %w", err)
	}
	return &session{client: client, end: func() { _ = server.Close(); end() }}, nil
}

func (s *SFTP) clientConfig() (*ssh.ClientConfig, error) {
	config := &ssh.ClientConfig{User: s.User, Timeout: connectTimeout}
	if s.Key != "" {
		pem, err := os.ReadFile(s.Key)
		if err != nil {
			return nil, fmt.Errorf("files: the private key: %w", err)
		}
		signer, err := ssh.ParsePrivateKey(pem)
		if err != nil {
			return nil, fmt.Errorf("files: the private key: %w", err)
		}
		config.Auth = append(config.Auth, ssh.PublicKeys(signer))
	}
	if s.PasswordFile != "" {
		text, err := os.ReadFile(s.PasswordFile)
		if err != nil {
			return nil, fmt.Errorf("files: the password: %w", err)
		}
		config.Auth = append(config.Auth, ssh.Password(strings.TrimRight(string(text), "\r\n")))
	}
	var keys [][]byte
	for _, text := range s.HostKeys {
		key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("files: a host key: %w", err)
		}
		keys = append(keys, key.Marshal())
		if key.Type() == ssh.KeyAlgoRSA {
			config.HostKeyAlgorithms = append(config.HostKeyAlgorithms, ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256)
		} else {
			config.HostKeyAlgorithms = append(config.HostKeyAlgorithms, key.Type())
		}
	}
	config.HostKeyCallback = func(_ string, _ net.Addr, key ssh.PublicKey) error {
		if !slices.ContainsFunc(keys, func(known []byte) bool { return bytes.Equal(known, key.Marshal()) }) {
			return errors.New("the server has another host key than the settings")
		}
		return nil
	}
	return config, nil
}

// session is a connection to an SFTP server.
type session struct {
	client *sftp.Client
	end    func()
}

func (s *session) ReadDir(dir string) ([]fs.FileInfo, error) { return s.client.ReadDir(dir) }

func (s *session) Open(name string) (io.ReadCloser, error) { return s.client.Open(name) }

func (s *session) Write(name string, data []byte) error {
	f, err := s.client.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	_, err = f.ReadFrom(bytes.NewReader(data))
	if _, syncs := s.client.HasExtension("fsync@openssh.com"); err == nil && syncs {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Rename replaces atomically on servers with OpenSSH's extension. The standard
// call of other servers fails if the new name exists.
func (s *session) Rename(from, to string) error {
	if _, posix := s.client.HasExtension("posix-rename@openssh.com"); posix {
		return s.client.PosixRename(from, to)
	}
	return s.client.Rename(from, to)
}

func (s *session) Remove(name string) error { return s.client.Remove(name) }

func (s *session) Exists(name string) (bool, error) {
	_, err := s.client.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (s *session) MakeDir(dir string) error {
	if exists, err := s.Exists(dir); exists || err != nil {
		return err
	}
	return s.client.Mkdir(dir)
}

func (s *session) Close() error {
	err := s.client.Close()
	s.end()
	if errors.Is(err, net.ErrClosed) || errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}
