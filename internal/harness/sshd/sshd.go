// Package sshd runs a real OpenSSH server for a test: on a free loopback port,
// with SFTP only, with new keys, in a temporary folder.
package sshd

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/harness/loopback"

	"golang.org/x/crypto/ssh"
)

// Server is a running server.
type Server struct {
	Address, User string
	// HostKey is the public key of the server, Key the file of the private key
	// that may sign in.
	HostKey, Key string
	// Root is the folder in which relative paths begin.
	Root string

	config string
	// shadow is a file in place of /etc/shadow, with the hash of Password; empty
	// for a server that asks for the key.
	shadow string
	stop   func()
}

// Password signs in at a server of StartPassword; its SHA-512 hash is in the
// form of crypt.
const (
	Password     = "hale-sftp-test"
	passwordHash = "$6$halesalt$TeiGyDqBwFdO3J0t0915eKfwlo4on.yfMq/yFnUexvl/Jgi/4/3Ho/cYQIYbjAiKc1nXWINSvkwUKUO3E5HVK0"
)

// path of the server; sshd must be started by its absolute path.
const path = "/usr/sbin/sshd"

// Start starts a server, and stops it when the test ends. Without OpenSSH's server the
// test skips.
func Start(t testing.TB) *Server {
	t.Helper()
	return start(t, "PasswordAuthentication no", "PermitRootLogin prohibit-password")
}

// StartPassword starts a server like Start that accepts only Password. The server reads
// the password from a file that is mounted over /etc/shadow for its process alone.
// Without root rights the test skips.
func StartPassword(t testing.TB) *Server {
	t.Helper()
	if os.Getuid() != 0 || exec.Command("unshare", "-m", "true").Run() != nil { //nolint:noctx // ends at once
		t.Skip("a server with a password needs the rights of root")
	}
	return start(t, "PasswordAuthentication yes", "PubkeyAuthentication no", "PermitRootLogin yes")
}

func start(t testing.TB, authentication ...string) *Server {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Skip("OpenSSH's server is missing: scripts/ensure.sh sshd")
	}
	dir := t.TempDir()
	account, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{User: account.Username, Root: filepath.Join(dir, "root"), Key: filepath.Join(dir, "client"), Address: freeAddress(t)}
	if err := os.Mkdir(s.Root, 0o700); err != nil {
		t.Fatal(err)
	}
	s.HostKey = writeKey(t, filepath.Join(dir, "host"))
	write(t, filepath.Join(dir, "authorized"), writeKey(t, s.Key)+"\n")
	host, port, err := net.SplitHostPort(s.Address)
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "config")
	write(t, config, strings.Join([]string{
		"ListenAddress " + host, "Port " + port, "HostKey " + filepath.Join(dir, "host"), "PidFile none", "UsePAM no", "StrictModes no",
		"AuthorizedKeysFile " + filepath.Join(dir, "authorized"), "KbdInteractiveAuthentication no", strings.Join(authentication, "\n"),
		"MaxStartups 100", "Subsystem sftp internal-sftp -d " + s.Root, "",
	}, "\n"))
	if authentication[0] == "PasswordAuthentication yes" {
		s.shadow = filepath.Join(dir, "shadow")
		write(t, s.shadow, account.Username+":"+passwordHash+":20000:0:99999:7:::\n")
	}
	s.config = config
	t.Cleanup(func() { s.Stop() })
	s.Run(t)
	return s
}

// Stop stops the server. It then refuses new connections.
func (s *Server) Stop() {
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

// Run starts a stopped server again.
func (s *Server) Run(t testing.TB) {
	t.Helper()
	if os.Getuid() == 0 { // the server of root separates its privileges there
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	command := []string{path, "-D", "-e", "-f", s.config}
	if s.shadow != "" {
		script := `mount --bind "$0" /etc/shadow && exec "$@"`
		command = slices.Concat([]string{"unshare", "-m", "sh", "-c", script, s.shadow}, command)
	}
	server := exec.Command(command[0], command[1:]...) //nolint:noctx // stop ends it; our own arguments
	server.Stderr = &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	s.stop = func() {
		_ = server.Process.Kill() // it may have ended
		if err := <-ended; err == nil {
			t.Log("sshd had ended before it was killed")
		}
	}
	for deadline := time.Now().Add(90 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", s.Address) //nolint:noctx // on this machine, and closed at once
		if err == nil {
			_ = conn.Close()
			return
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("sshd: %v: %s", err, log.String())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("sshd does not listen: %v", err)
		}
	}
}

// Settings returns the section files of a networks file, for a folder below
// Root. Its lines begin with indent.
func (s *Server) Settings(indent, folder string) string {
	return fmt.Sprintf("%[1]sfiles:\n%[1]s  folder: %[2]s\n%[1]s  sftp: {address: %[3]q, user: %[4]q, key: %[5]q, host_keys: [%[6]q]}\n",
		indent, folder, s.Address, s.User, s.Key, s.HostKey)
}

// writeKey writes a new private key and returns its public key.
func writeKey(t testing.TB, file string) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, string(pem.EncodeToMemory(block)))
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func freeAddress(t testing.TB) string {
	t.Helper()
	address, err := loopback.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}
