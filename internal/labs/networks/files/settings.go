package files

import (
	"cmp"
	"errors"
	"net"
	"path"
	"path/filepath"
	"time"

	"golang.org/x/crypto/ssh"
)

// Settings describe a folder and its subfolders.
type Settings struct {
	// Folder is the folder of the laboratory: on this machine, or on the SFTP
	// server, where a relative path begins at the user's home.
	Folder string `yaml:"folder"`
	// SFTP is the server; nil means a folder of this machine.
	SFTP *SFTP `yaml:"sftp"`
	// Orders gets the orders, Results has the results; the defaults are orders
	// and results. They are below Folder, unless they are absolute.
	Orders  string `yaml:"orders"`
	Results string `yaml:"results"`
	// Failed gets files that cannot be read; the default is failed.
	Failed string `yaml:"failed"`
	// Done gets files that were read; without it they are deleted.
	Done string `yaml:"done"`
	// Interval is the time between two looks at Results; the default is 30
	// seconds.
	Interval time.Duration `yaml:"interval"`
	// Answers means that the laboratory answers each order with a file: the order
	// waits for it.
	Answers bool `yaml:"answers"`
}

// SFTP is an SFTP server.
type SFTP struct {
	// Address is host:port.
	Address string `yaml:"address"`
	User    string `yaml:"user"`
	// HostKeys are the public keys of the server, as ssh-keyscan prints them
	// after the host. One of them must be presented.
	HostKeys []string `yaml:"host_keys"`
	// Key names the file of a private key without passphrase, PasswordFile the
	// file of a password.
	Key          string `yaml:"key"`
	PasswordFile string `yaml:"password_file"`
}

// Check returns the faults of the settings, each with the key that it is about.
func (s *Settings) Check() (faults []error) {
	if s == nil {
		return nil
	}
	fail := func(text string) { faults = append(faults, errors.New(text)) }
	switch {
	case s.Folder == "":
		fail("folder: is needed")
	case s.SFTP == nil && !filepath.IsAbs(s.Folder):
		fail("folder: must be an absolute path")
	}
	if s.Interval < 0 {
		fail("interval: must not be negative")
	}
	in := map[string]string{}
	for _, sub := range []struct{ key, path string }{{"orders", s.orders()}, {"results", s.results()}, {"failed", s.failed()}, {"done", s.done()}} {
		if sub.path == "" {
			continue
		}
		if other, taken := in[sub.path]; taken {
			fail(sub.key + ": is also the folder of " + other)
		}
		in[sub.path] = sub.key
	}
	if s.SFTP != nil {
		faults = append(faults, s.SFTP.check()...)
	}
	return faults
}

func (s *SFTP) check() (faults []error) {
	fail := func(text string) { faults = append(faults, errors.New("sftp."+text)) }
	if _, port, err := net.SplitHostPort(s.Address); err != nil || port == "" {
		fail("address: must be host:port")
	}
	if s.User == "" {
		fail("user: is needed")
	}
	if s.Key == "" && s.PasswordFile == "" {
		fail("key: or password_file is needed")
	}
	if len(s.HostKeys) == 0 {
		fail("host_keys: are needed; ssh-keyscan prints them")
	}
	for _, text := range s.HostKeys {
		if _, _, _, _, err := ssh.ParseAuthorizedKey([]byte(text)); err != nil {
			fail("host_keys: must be public keys, such as ssh-ed25519 AAAA…")
		}
	}
	return faults
}

func (s *Settings) orders() string  { return s.below(cmp.Or(s.Orders, "orders")) }
func (s *Settings) results() string { return s.below(cmp.Or(s.Results, "results")) }
func (s *Settings) failed() string  { return s.below(cmp.Or(s.Failed, "failed")) }

func (s *Settings) done() string {
	if s.Done == "" {
		return ""
	}
	return s.below(s.Done)
}

// below returns a path below the folder. Both kinds of folder use slashes.
func (s *Settings) below(sub string) string {
	if path.IsAbs(sub) {
		return path.Clean(sub)
	}
	return path.Join(s.Folder, sub)
}
