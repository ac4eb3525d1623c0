package cli

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts in testdata run the real command line, each command a process
// of its own: this test binary under the name hale.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"hale": func() { os.Exit(Main()) }})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HALE_DATA", filepath.Join(env.WorkDir, "data"))
			env.Setenv("HALE_METRICS_LISTEN", "off")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else each command of a race build ends a second late
			env.Setenv("HALE_REPORT_MEMORY", reportMemory)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":  exits,
			"serve":  serve,
			"quit":   quit,
			"setenv": setenv,

			"receiver":   receive,
			"verify":     verify,
			"received":   checkReceived,
			"eventually": runEventually,
		},
	})
}

// exits runs a command and checks its exit code: `exits 3 hale users get x`.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// setenv sets a variable to what the last command printed: `setenv KEY stdout`.
func setenv(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}

type runningServer struct {
	*exec.Cmd
	ended chan error
}

var servers sync.Map // running, by data folder: scripts run side by side

// serve starts `hale serve` on a free port, waits until it is ready and sets
// HALE_URL. Its first screen is in the file serve.out.
func serve(ts *testscript.TestScript, _ bool, args []string) {
	path, err := exec.LookPath("hale")
	ts.Check(err)
	command := exec.Command(path, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	for _, name := range []string{"PATH", "HALE_DATA", "HALE_METRICS_LISTEN", "HALE_BOOTSTRAP_API_KEY", "HALE_WEBHOOK_ALLOW_PRIVATE", "HALE_REPORT_MEMORY", "GORACE"} {
		command.Env = append(command.Env, name+"="+ts.Getenv(name))
	}
	log, err := os.Create(ts.MkAbs("serve.err"))
	ts.Check(err)
	defer log.Close()
	command.Stderr = log
	stdout, err := command.StdoutPipe()
	ts.Check(err)
	ts.Check(command.Start())
	r := runningServer{command, make(chan error, 1)}
	servers.Store(ts.Getenv("HALE_DATA"), r)
	screen := readScreen(stdout)
	go func() { r.ended <- command.Wait() }()
	ts.Defer(func() { _ = command.Process.Kill() })
	ts.Check(os.WriteFile(ts.MkAbs("serve.out"), []byte(screen), 0o600))
	_, address, ok := strings.Cut(screen, " is ready at ")
	if !ok {
		ts.Fatalf("the server is not ready: %s%s", screen, ts.ReadFile("serve.err"))
	}
	address, _, _ = strings.Cut(address, "\n")
	ts.Setenv("HALE_URL", address)
	answer, err := http.Get(address + "/readyz")
	ts.Check(err)
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		ts.Fatalf("readyz answers %d", answer.StatusCode)
	}
}

// readScreen reads the first screen: up to the last step of the path.
func readScreen(from io.Reader) string {
	var screen strings.Builder
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		screen.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "hale listen   ") || strings.Contains(lines.Text(), "hale docs production") {
			break
		}
	}
	return screen.String()
}

// quit sends SIGTERM and waits for a clean end.
func quit(ts *testscript.TestScript, _ bool, _ []string) {
	found, ok := servers.Load(ts.Getenv("HALE_DATA"))
	if !ok {
		ts.Fatalf("no server runs")
	}
	r := found.(runningServer)
	ts.Check(r.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-r.ended:
		if err != nil {
			ts.Fatalf("the server ended badly: %v\n%s", err, ts.ReadFile("serve.err"))
		}
	case <-time.After(30 * time.Second):
		ts.Fatalf("the server does not stop")
	}
}
