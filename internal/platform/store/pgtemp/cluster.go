package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Durability decides whether a commit waits for the disk.
type Durability bool

const (
	// Fast never syncs. It is for tests, whose data is deleted with the cluster.
	Fast Durability = false
	// Durable keeps PostgreSQL's defaults. It is for crash and bench runs.
	Durable Durability = true
)

// Cluster is a running PostgreSQL server.
type Cluster struct {
	dir    string // contains data/, server.log and the socket
	keeper *exec.Cmd
	hold   *os.File // closing it ends the server
}

// openPipes keeps the pipes of running servers reachable. The garbage collector would
// close an unreachable pipe, which ends its server.
var openPipes sync.Map

// keeperScript runs the server until its standard input closes. SIGQUIT skips the
// final checkpoint, because the folder is removed then.
const keeperScript = `exec 3<&0; "$1" -D "$2/data" -k "$2" -c listen_addresses= </dev/null 3<&- &
server=$!; trap '' INT TERM HUP; read -r _ <&3; kill -QUIT $server; wait $server; rm -rf "$2"`

// Start creates a cluster and waits until it accepts connections, at most a minute.
func Start(ctx context.Context, durability Durability) (*Cluster, error) {
	bin, err := Find()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(parentDir(durability), "hale-pg-")
	if err != nil {
		return nil, fmt.Errorf("pgtemp: making a folder: %w", err)
	}
	c := &Cluster{dir: dir}
	if err := c.start(ctx, bin, durability); err != nil {
		c.abandon()
		return nil, err
	}
	return c, nil
}

// A Fast cluster is created in memoryDir, a file system in memory on Linux, if it has
// at least minFree bytes free.
const (
	memoryDir = "/dev/shm"
	minFree   = 4 << 30
)

// parentDir returns the folder for a new cluster: in memory for a Fast one, unless
// TMPDIR is set, and the folder for temporary files otherwise.
//
// A database has three hundred files. ext4 does not reuse an inode for a minute. It
// searches all of these inodes for each new file, which took a sixth of the time of
// all tests.
func parentDir(durability Durability) string {
	var memory unix.Statfs_t
	if durability == Durable || os.Getenv("TMPDIR") != "" || unix.Statfs(memoryDir, &memory) != nil {
		return ""
	}
	if uint64(memory.Bavail)*uint64(memory.Bsize) < minFree || unix.Access(memoryDir, unix.W_OK) != nil { //nolint:unconvert // the types differ between systems
		return ""
	}
	return memoryDir
}

func (c *Cluster) start(ctx context.Context, bin string, durability Durability) error {
	owner, err := c.chown()
	if err != nil {
		return err
	}
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", filepath.Join(c.dir, "data"),
		"-U", superuser, "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions")
	initdb.SysProcAttr, initdb.Dir = owner, c.dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("pgtemp: initdb: %w\n%s", err, out)
	}
	if err := c.configure(durability); err != nil {
		return err
	}
	if err := c.serve(filepath.Join(bin, "postgres"), owner); err != nil {
		return err
	}
	if err := c.waitReady(ctx); err != nil {
		return err
	}
	return c.createRole(ctx)
}

// chown gives the folder to the user of the server.
func (c *Cluster) chown() (*syscall.SysProcAttr, error) {
	owner, err := serverUser()
	if err != nil || owner == nil {
		return nil, err
	}
	if err := os.Chown(c.dir, int(owner.Credential.Uid), int(owner.Credential.Gid)); err != nil {
		return nil, fmt.Errorf("pgtemp: handing the folder to the server's user: %w", err)
	}
	return owner, nil
}

// configure appends the settings that differ from the defaults. A later line wins.
func (c *Cluster) configure(durability Durability) error {
	settings := "max_connections = 400\nshared_buffers = 256MB\njit = off\nunix_socket_permissions = 0700\n"
	if durability == Fast {
		settings += "fsync = off\nsynchronous_commit = off\nfull_page_writes = off\nautovacuum = off\nwal_level = minimal\nmax_wal_senders = 0\nmax_wal_size = 256MB\n"
	}
	return c.appendSettings(settings)
}

func (c *Cluster) appendSettings(settings string) error {
	path := filepath.Join(c.dir, "data", "postgresql.conf")
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("pgtemp: %w", err)
	}
	_, err = file.WriteString(settings)
	return errors.Join(err, file.Close())
}

func (c *Cluster) serve(postgres string, owner *syscall.SysProcAttr) error {
	read, hold, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("pgtemp: %w", err)
	}
	defer read.Close()
	log, err := os.Create(filepath.Join(c.dir, "server.log"))
	if err != nil {
		return errors.Join(fmt.Errorf("pgtemp: %w", err), hold.Close())
	}
	defer log.Close()
	// Not CommandContext: the keeper outlives ctx and ends with the pipe. Its output
	// goes to a file, because `go test` waits for processes that hold its own output.
	c.keeper = exec.Command("/bin/sh", "-c", keeperScript, "sh", postgres, c.dir) //nolint:noctx // see above
	c.keeper.Stdin, c.keeper.Stdout, c.keeper.Stderr = read, log, log
	c.keeper.Dir = c.dir
	c.keeper.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C must end the tests and not the server
	if owner != nil {
		c.keeper.SysProcAttr.Credential = owner.Credential
	}
	if err := c.keeper.Start(); err != nil {
		return errors.Join(fmt.Errorf("pgtemp: starting the server: %w", err), hold.Close())
	}
	c.hold = hold
	openPipes.Store(hold, nil)
	return nil
}

// waitReady waits for the word "ready", or "standby", in the eighth line of
// postmaster.pid, like pg_ctl.
func (c *Cluster) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		text, err := os.ReadFile(filepath.Join(c.dir, "data", "postmaster.pid"))
		if lines := strings.Split(string(text), "\n"); err == nil && len(lines) > 7 {
			if status := strings.TrimSpace(lines[7]); status == "ready" || status == "standby" {
				return nil
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("pgtemp: %w", err)
		}
		select {
		case <-ctx.Done():
			log, _ := os.ReadFile(filepath.Join(c.dir, "server.log")) // best effort: it explains the failure
			return fmt.Errorf("pgtemp: the server did not start: %w\n%s", ctx.Err(), log)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// URL returns the superuser's address of the maintenance database.
func (c *Cluster) URL() string { return address(superuser, c.dir, "postgres") }

func address(role, socketDir, database string) string {
	query := url.Values{"host": {socketDir}, "port": {"5432"}, "sslmode": {"disable"}}
	return "postgres://" + role + "@/" + database + "?" + query.Encode()
}

// Stop ends the server and waits until its folder is removed.
func (c *Cluster) Stop() error {
	if c.hold == nil {
		return nil
	}
	err := c.hold.Close()
	openPipes.Delete(c.hold)
	c.hold = nil
	_ = c.keeper.Wait() // the exit code is that of the killed server
	return err
}

func (c *Cluster) abandon() {
	_ = c.Stop()            // best effort: the caller reports the first error
	_ = os.RemoveAll(c.dir) // a keeper removes it too
}

// serverUser returns nil for an ordinary user, and an unprivileged user for root.
func serverUser() (*syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(account.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(account.Gid, 10, 32)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return nil, fmt.Errorf("pgtemp: user %s: %w", name, err)
		}
		return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
	}
	return nil, errors.New("pgtemp: PostgreSQL refuses to run as root and there is no user postgres")
}
