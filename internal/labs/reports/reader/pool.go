package reader

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"hale/internal/labs/reports"
	"hale/internal/labs/reports/extract"
)

// Pool starts children and sends them requests. Set its fields before the first use.
type Pool struct {
	// Command is the program of a child with its arguments.
	Command []string
	// Dir contains a folder for each child.
	Dir    string
	Config Config
	// Size is the number of children that read reports. Another one draws pages for
	// reviewers, who do not wait for reports.
	Size int
	// Timeout is the time for one report, and ImageTimeout for one page.
	Timeout, ImageTimeout time.Duration
	// Idle is the time after which an unused child ends.
	Idle time.Duration

	readers, painters room
	once              sync.Once
}

// room holds the children of one purpose.
type room struct {
	seats chan struct{} // one for each child that may exist

	mu   sync.Mutex
	idle []*child
	gone bool // no child may stay
}

// child is a running process.
type child struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	dir   string
	lock  *os.File // held while the folder is in use
	timer *time.Timer
}

func (p *Pool) prepare() {
	p.once.Do(func() {
		p.readers.seats = make(chan struct{}, max(1, p.Size))
		p.painters.seats = make(chan struct{}, 1)
	})
}

// Read implements reports.Reader.
func (p *Pool) Read(ctx context.Context, files []reports.File) (extract.Result, error) {
	p.prepare()
	a, _, err := p.ask(ctx, &p.readers, p.Timeout, request{Config: p.Config}, files)
	return a.Result, err
}

// Image implements reports.Reader.
func (p *Pool) Image(ctx context.Context, files []reports.File, page int) ([]byte, error) {
	p.prepare()
	_, image, err := p.ask(ctx, &p.painters, p.ImageTimeout, request{Config: p.Config, Page: page}, files)
	return image, err
}

// ask sends a request to an idle child, or to a new one.
func (p *Pool) ask(ctx context.Context, r *room, limit time.Duration, asked request, files []reports.File) (answer, []byte, error) {
	select {
	case r.seats <- struct{}{}:
	case <-ctx.Done():
		return answer{}, nil, ctx.Err()
	}
	defer func() { <-r.seats }()
	c, err := r.take(p)
	if err != nil {
		return answer{}, nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTooSlow)
	defer cancel()
	stop := context.AfterFunc(ctx, c.kill)
	a, image, err := c.converse(asked, files)
	stop()
	if err != nil || ctx.Err() != nil || a.Last {
		c.end()
	} else {
		r.release(c, p.Idle)
	}
	switch cause := context.Cause(ctx); {
	case err == nil && a.Setup != "":
		return answer{}, nil, errors.New(a.Setup)
	case err == nil && a.Failure != nil:
		return answer{}, nil, a.Failure
	case err == nil && a.Error != "":
		return answer{}, nil, fmt.Errorf("%w: %s", reports.ErrReaderGone, a.Error)
	case err == nil:
		return a, image, nil
	case errors.Is(cause, errTooSlow):
		return answer{}, nil, fmt.Errorf("%w: no answer within %v", reports.ErrReaderGone, limit)
	case ctx.Err() != nil:
		return answer{}, nil, cause
	}
	return answer{}, nil, fmt.Errorf("%w: %v", reports.ErrReaderGone, c.cmd.ProcessState)
}

var errTooSlow = errors.New("reader: the time limit was exceeded")

// converse sends a request and reads its answer.
func (c *child) converse(asked request, files []reports.File) (a answer, image []byte, err error) {
	data := make([][]byte, len(files))
	for i, f := range files {
		asked.Files = append(asked.Files, fileHead{f.Type, int64(len(f.Data))})
		data[i] = f.Data
	}
	if err := writeMessage(c.in, asked, data...); err != nil {
		return a, nil, err
	}
	if err := readMessage(c.out, &a); err != nil {
		return a, nil, err
	}
	image, err = readData(c.out, a.Size)
	return a, image, err
}

// take returns an idle child or starts one.
func (r *room) take(p *Pool) (*child, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for n := len(r.idle); n > 0; n = len(r.idle) {
		c := r.idle[n-1]
		r.idle = r.idle[:n-1]
		if c.timer.Stop() && c.isRunning() {
			return c, nil
		}
	}
	return p.start()
}

// release keeps a child for the next request, for a while.
func (r *room) release(c *child, idle time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		go c.end()
		return
	}
	c.timer = time.AfterFunc(idle, func() {
		r.mu.Lock()
		for i, one := range r.idle {
			if one == c {
				r.idle = append(r.idle[:i], r.idle[i+1:]...)
				break
			}
		}
		r.mu.Unlock()
		c.end()
	})
	r.idle = append(r.idle, c)
}

// folderPrefix begins the names of the children's folders.
const folderPrefix = "reader-"

// start starts a child in a folder of its own. Its environment contains no setting of
// this process.
func (p *Pool) start() (*child, error) {
	if err := os.MkdirAll(p.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("reader: creating the folder: %w", err)
	}
	dir, err := os.MkdirTemp(p.Dir, folderPrefix+"*")
	if err != nil {
		return nil, fmt.Errorf("reader: creating a folder: %w", err)
	}
	lock, err := lockFolder(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	cmd := exec.Command(p.Command[0], p.Command[1:]...) //nolint:noctx // outlives the request; end kills it
	cmd.Dir = dir
	cmd.Env = environment(dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut); err != nil {
		return nil, errors.Join(fmt.Errorf("reader: starting: %w", err), lock.Close(), os.RemoveAll(dir))
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("reader: starting: %w", err), lock.Close(), os.RemoveAll(dir))
	}
	return &child{cmd: cmd, in: in, out: bufio.NewReader(out), dir: dir, lock: lock}, nil
}

// environment returns the environment of a child: where programs are, and its folder.
func environment(dir string) []string {
	env := []string{"HOME=" + dir, "TMPDIR=" + dir, "LANG=C.UTF-8", "OMP_THREAD_LIMIT=1"}
	for _, name := range []string{"PATH", "TESSDATA_PREFIX"} {
		if value := os.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// isRunning reports whether the process has not ended. It does not wait.
func (c *child) isRunning() bool { return syscall.Kill(c.cmd.Process.Pid, 0) == nil && !c.isZombie() }

// isZombie reports whether the process has ended without being waited for.
func (c *child) isZombie() bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.cmd.Process.Pid))
	if err != nil {
		return false // not Linux
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(state, "Z")
}

// kill ends the process and the programs that it started.
func (c *child) kill() { _ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) }

// end kills the process, waits for it and removes its folder.
func (c *child) end() {
	c.kill()
	_ = c.in.Close()
	_ = c.cmd.Wait()
	_ = os.RemoveAll(c.dir)
	_ = c.lock.Close()
}

// Close ends all idle children. Children with a request end with its context.
func (p *Pool) Close() {
	p.prepare()
	for _, r := range []*room{&p.readers, &p.painters} {
		r.mu.Lock()
		idle := r.idle
		r.idle, r.gone = nil, true
		r.mu.Unlock()
		for _, c := range idle {
			if c.timer.Stop() {
				c.end()
			}
		}
	}
}

// Sweep removes folders that a killed process left. Folders in use stay: other nodes may
// share the data folder.
func (p *Pool) Sweep() error {
	left, err := filepath.Glob(filepath.Join(p.Dir, folderPrefix+"*"))
	if err != nil {
		return err
	}
	for _, dir := range left {
		lock, err := lockFolder(dir)
		if err != nil {
			continue // in use
		}
		if err := errors.Join(os.RemoveAll(dir), lock.Close()); err != nil {
			return fmt.Errorf("reader: removing the folder of an earlier process: %w", err)
		}
	}
	return nil
}

// lockFolder locks the folder of a child for this process. The lock ends with the
// process.
func lockFolder(dir string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("reader: locking a folder: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("reader: locking a folder: %w", err), lock.Close())
	}
	return lock, nil
}

// Processes counts the running children.
func (p *Pool) Processes() int {
	p.prepare()
	n := len(p.readers.seats) + len(p.painters.seats)
	for _, r := range []*room{&p.readers, &p.painters} {
		r.mu.Lock()
		n += len(r.idle)
		r.mu.Unlock()
	}
	return n
}
