package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hale/docs"
	"hale/internal/harness/loopback"
)

// program is a copy that a program of docs/examples keeps. It is a process with an
// endpoint of its own, and a bad network is between them.
type program struct {
	name     string
	command  []string
	dir      string
	log      *os.File
	receiver string // address of its receiver
	reader   string // address at which it shows its copy
	endpoint string
	network  *http.Server
	address  string // of the network
	environ  []string
	process  *exec.Cmd
}

// errMissing says that a program cannot run on this machine.
var errMissing = errors.New("missing")

// languages lists the programs, with the tools that build them into a folder.
var languages = map[string]func(ctx context.Context, binary, dir string) ([]string, error){
	"python":     buildPython,
	"typescript": buildTypeScript,
}

// programs builds the programs that this machine can run, and names the others.
func programs(ctx context.Context, names []string, binary, dir string, out io.Writer) (all []*program, err error) {
	for _, name := range names {
		build := languages[name]
		if build == nil {
			return nil, fmt.Errorf("there is no program in %q", name)
		}
		p := &program{name: name, dir: filepath.Join(dir, name)}
		if err := os.MkdirAll(p.dir, 0o700); err != nil {
			return nil, err
		}
		p.command, err = build(ctx, binary, p.dir)
		if errors.Is(err, errMissing) {
			fmt.Fprintf(out, "%s: skipped: %v\n", name, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := p.listen(); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func buildPython(ctx context.Context, binary, dir string) ([]string, error) {
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		return nil, fmt.Errorf("python3 is %w", errMissing)
	}
	if exec.CommandContext(ctx, interpreter, "-c", "from typing import NotRequired").Run() != nil {
		return nil, fmt.Errorf("python 3.11 is %w", errMissing)
	}
	if err := writeProgram(ctx, binary, "python", dir, "mirror.py", "hale_events.py"); err != nil {
		return nil, err
	}
	return []string{interpreter, "-B", "mirror.py"}, nil
}

func buildTypeScript(ctx context.Context, binary, dir string) ([]string, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, fmt.Errorf("node is %w", errMissing)
	}
	modules, err := clientModules()
	if err != nil {
		return nil, err
	}
	if err := writeProgram(ctx, binary, "typescript", dir, "mirror.ts", "hale-events.ts"); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type": "module"}`), 0o600); err != nil {
		return nil, err
	}
	return []string{node, "mirror.js"}, runIn(ctx, dir, filepath.Join(modules, ".bin", "tsc"), "--strict", "--noUncheckedIndexedAccess",
		"--target", "es2022", "--module", "nodenext", "--typeRoots", filepath.Join(modules, "@types"), "--types", "node", "mirror.ts")
}

// clientModules finds the folder in which npm puts the compiler: that of clients/.
func clientModules() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; folder = filepath.Dir(folder) {
		modules := filepath.Join(folder, "clients", "node_modules")
		if _, err := os.Stat(filepath.Join(modules, "@types", "node")); err == nil {
			return modules, nil
		}
		if folder == filepath.Dir(folder) {
			return "", fmt.Errorf("the TypeScript compiler is %w: npm ci in clients/ brings it", errMissing)
		}
	}
}

// writeProgram writes the program and the types of all events.
func writeProgram(ctx context.Context, binary, language, dir, name, types string) error {
	source, err := docs.Files.ReadFile("examples/" + name)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, name), source, 0o600); err != nil {
		return err
	}
	text, err := exec.CommandContext(ctx, binary, "webhooks", "types", "--language", language).Output()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, types), text, 0o600)
}

func runIn(ctx context.Context, dir, name string, args ...string) error {
	command := exec.CommandContext(ctx, name, args...)
	command.Dir = dir
	if text, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(name), err, text)
	}
	return nil
}

// listen starts the network and picks the program's addresses.
func (p *program) listen() (err error) {
	if p.log, err = os.Create(filepath.Join(p.dir, "program.log")); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it lives as long as the run
	if err != nil {
		return err
	}
	p.address = listener.Addr().String()
	p.network = &http.Server{Handler: http.HandlerFunc(p.pass), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = p.network.Serve(listener) }() // ends with Close
	if p.receiver, err = loopback.FreeAddress(); err != nil {
		return err
	}
	p.reader, err = loopback.FreeAddress()
	return err
}

// start starts the process.
func (p *program) start() error {
	port := func(address string) string { _, port, _ := net.SplitHostPort(address); return port }
	process := exec.Command(p.command[0], p.command[1:]...) //nolint:noctx // close ends it
	process.Dir, process.Stdout, process.Stderr = p.dir, p.log, p.log
	process.Env = append(os.Environ(), p.environ...)
	process.Env = append(process.Env, "HALE_WEBHOOK_ID="+p.endpoint, "PORT="+port(p.receiver), "COPY_PORT="+port(p.reader), "FEED_SECONDS=2", "COPY_FILE=copy.db")
	p.process = process
	return process.Start()
}

func (p *program) kill() {
	if p.process != nil {
		_ = p.process.Process.Kill() // it may have ended
		_ = p.process.Wait()
	}
}

func (p *program) close() {
	p.kill()
	_ = p.network.Close()
	_ = p.log.Close()
}

// pass passes a webhook on to the program. It loses, doubles and delays some, also until
// the program was started again.
func (p *program) pass(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	x := rand.Float64()
	switch {
	case x < .02:
		w.WriteHeader(http.StatusServiceUnavailable) // it comes later, after newer ones
		return
	case x < .04:
		w.WriteHeader(http.StatusNoContent) // lost after the answer
		return
	case x < .08:
		w.WriteHeader(http.StatusNoContent)
		late := req.Clone(context.WithoutCancel(req.Context()))
		time.AfterFunc(time.Duration(rand.IntN(4000))*time.Millisecond, func() { p.forward(late, body) })
		return
	case x < .1:
		p.forward(req, body)
	case x < .14:
		time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
	}
	w.WriteHeader(p.forward(req, body))
}

func (p *program) forward(from *http.Request, body []byte) (status int) {
	request, err := http.NewRequestWithContext(from.Context(), http.MethodPost, "http://"+p.receiver+"/hook", bytes.NewReader(body))
	if err != nil {
		return http.StatusInternalServerError
	}
	request.Header = from.Header.Clone()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return http.StatusBadGateway // it was killed
	}
	defer response.Body.Close()
	return response.StatusCode
}

// copied reads the copy. after is its position in the feed, and -1 while it reads what
// exists. toRead counts the ranges that it has yet to read.
func (p *program) copied(ctx context.Context) (after int64, toRead int64, r *replica, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.reader+"/", nil)
	if err != nil {
		return 0, 0, nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, 0, nil, err
	}
	defer response.Body.Close()
	lines := bufio.NewReader(response.Body)
	var head object
	if err := readLine(lines, &head); err != nil {
		return 0, 0, nil, err
	}
	r = newReplica()
	for {
		var row object
		if err := readLine(lines, &row); errors.Is(err, io.EOF) {
			return number(head["after"]), number(head["to_read"]), r, nil
		} else if err != nil {
			return 0, 0, nil, err
		}
		r.load(row)
	}
}

func readLine(lines *bufio.Reader, into *object) error {
	text, err := lines.ReadBytes('\n')
	if err != nil {
		return err
	}
	return decode(text, into)
}

// load stores a value of a program's copy.
func (r *replica) load(row object) {
	doc, _ := row["doc"].(object)
	user, resource, seq := textField(row, "user"), textField(row, "resource"), number(row["seq"])
	switch kind := textField(row, "kind"); kind {
	case "sample":
		source, _ := doc["source"].(object)
		sample, _ := doc["sample"].(object)
		r.setSample(seq, user, resource, source, sample)
	case "summary":
		r.set(kind, resource+" "+user+" "+textField(doc, "id"), seq, doc)
	case "connection":
		r.set(kind, connectionKey(doc), seq, doc)
	case "user":
		r.set(kind, user, seq, doc)
	case "order_transaction":
		r.set("transaction", textField(doc, "id"), seq, doc)
	default:
		r.set(kind, textField(doc, "id"), seq, doc)
	}
}

// registerPrograms registers an endpoint for each program, which is started later: the
// first webhooks fail, and come again after the program has read what exists.
func (t *trial) registerPrograms(ctx context.Context) error {
	for _, p := range t.programs {
		var err error
		if p.endpoint, err = t.register(ctx, p.address); err != nil {
			return err
		}
		p.environ = []string{"HALE_URL=http://" + t.server.Address(), "HALE_API_KEY=" + apiKey}
	}
	return nil
}

// restartPrograms kills the programs and starts them again. One that keeps its copy in
// memory reads everything again, while others write.
func (t *trial) restartPrograms() error {
	for _, p := range t.programs {
		p.kill()
		if err := p.start(); err != nil {
			return err
		}
	}
	return nil
}

// catchUp waits until a program has all events, and returns its copy.
func (t *trial) catchUp(ctx context.Context, p *program) (*replica, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for {
		after, toRead, r, err := p.copied(ctx)
		if err == nil && after >= t.after && toRead == 0 {
			return r, nil
		}
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			log, _ := os.ReadFile(p.log.Name()) // for the message only
			return nil, fmt.Errorf("the copy in %s is at event %d of %d with %d ranges to read: %w\n%s", p.name, after, t.after, toRead, err, log[max(0, len(log)-2000):])
		}
	}
}

// languageNames splits the option; empty for none.
func languageNames(option string) []string {
	return slices.DeleteFunc(strings.Split(option, ","), func(name string) bool { return name == "" })
}
