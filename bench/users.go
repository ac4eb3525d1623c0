package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"hale/internal/harness/load"
	"hale/internal/harness/rawhttp"
)

// userConns is the number of concurrent callers. A group commit shares one sync among
// them.
const userConns = 64

// measureUsers creates users and reads them back with one small request each. It compares
// both with a handler that stores nothing.
func measureUsers(ctx context.Context, b *bench) error {
	bareCreate, bareGet, err := bareUsers(ctx, b)
	if err != nil {
		return err
	}
	use, err := watch(b.server)
	if err != nil {
		return err
	}
	created, ids, err := createUsers(ctx, b, b.server.Address(), userConns)
	if err != nil {
		return err
	}
	perCreate, err := use.perRequest(len(ids))
	if err != nil {
		return err
	}
	b.report.line("create user, durable", perSecond(created.PerSecond()), ratio(created.PerSecond(), bareCreate, "bare handler"), target(b, "≥ 10,000/s", ""))
	b.report.waits(created, perCreate)

	if use, err = watch(b.server); err != nil {
		return err
	}
	read, err := readUsers(ctx, b, b.server.Address(), ids)
	if err != nil {
		return err
	}
	perRead, err := use.perRequest(read.Requests * 10 / 9) // the warm-up is not in Requests
	if err != nil {
		return err
	}
	b.report.line("get user", perSecond(read.PerSecond()), ratio(read.PerSecond(), bareGet, "bare handler"), target(b, "≥ 30,000/s", ""))
	b.report.waits(read, perRead)

	alone, _, err := createUsers(ctx, b, b.server.Address(), 1)
	if err != nil {
		return err
	}
	b.report.line("create user, one caller", perSecond(alone.PerSecond()), "p50 / p99 "+millis(alone.Quantile(.5))+" / "+millis(alone.Quantile(.99)), "")
	return nil
}

// target picks the target of the engine; empty means none.
func target(b *bench, sqlite, postgres string) string {
	if b.engine == "sqlite" {
		return sqlite
	}
	return postgres
}

// createUsers creates users over conns connections. It returns their ids in any order.
func createUsers(ctx context.Context, b *bench, address string, conns int) (load.Result, []string, error) {
	head := rawhttp.Head("POST", "/v2/user", address, "x-service-api-key: "+b.key)
	run := rand.Uint32()
	ids := make([][]string, conns)
	result, err := load.Run(ctx, load.Plan{Address: address, Conns: conns, For: b.period}, func(w *load.Worker, n int) error {
		body := fmt.Appendf(nil, `{"client_user_id":"bench-%x-%d-%d"}`, run, w.Index, n)
		answer, err := w.Do(head, body)
		if err != nil {
			return err
		}
		id, err := textField(answer, "user_id")
		ids[w.Index] = append(ids[w.Index], id)
		return err
	})
	var all []string
	for _, part := range ids {
		all = append(all, part...)
	}
	return result, all, err
}

func readUsers(ctx context.Context, b *bench, address string, ids []string) (load.Result, error) {
	heads := make([][]byte, len(ids))
	for i, id := range ids {
		heads[i] = rawhttp.Head("GET", "/v2/user/"+id, address, "x-service-api-key: "+b.key)
	}
	return load.Run(ctx, load.Plan{Address: address, Conns: userConns, For: b.period}, func(w *load.Worker, _ int) error {
		answer, err := w.Do(heads[rand.IntN(len(heads))], nil)
		if err == nil && answer.Status != 200 {
			err = fmt.Errorf("reading a user was answered %d: %.200s", answer.Status, answer.Body)
		}
		return err
	})
}

// bareUsers measures the same two requests on a handler without storage.
func bareUsers(ctx context.Context, b *bench) (create, get float64, err error) {
	bare, err := startBare(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer bare.stop()
	address := bare.address
	created, ids, err := createUsers(ctx, b, address, userConns)
	if err != nil {
		return 0, 0, err
	}
	read, err := readUsers(ctx, b, address, ids[:min(len(ids), 1000)])
	return created.PerSecond(), read.PerSecond(), err
}

// bareProcess is the baseline server, running.
type bareProcess struct {
	address string
	cmd     *exec.Cmd
}

func startBare(ctx context.Context) (*bareProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-bare-server")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	bare := &bareProcess{cmd: cmd}
	line := make([]byte, 64)
	n, err := out.Read(line)
	if err != nil && !errors.Is(err, io.EOF) {
		bare.stop()
		return nil, err
	}
	bare.address = strings.TrimSpace(string(line[:n]))
	return bare, nil
}

func (b *bareProcess) stop() {
	_ = b.cmd.Process.Kill() // it never ends by itself
	_ = b.cmd.Wait()
}

// textField cuts a text out of a JSON answer without decoding the rest.
func textField(answer rawhttp.Response, name string) (string, error) {
	if answer.Status/100 != 2 {
		return "", fmt.Errorf("answered %d: %.300s", answer.Status, answer.Body)
	}
	_, rest, _ := bytes.Cut(answer.Body, []byte(strconv.Quote(name)))
	rest, text := bytes.CutPrefix(bytes.TrimLeft(rest, ": "), []byte(`"`))
	value, _, closed := bytes.Cut(rest, []byte(`"`))
	if !text || !closed {
		return "", fmt.Errorf("the answer has no text %s: %.300s", name, answer.Body)
	}
	return string(value), nil
}
