package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"hale/internal/cli/client"
	"hale/internal/cli/progress"
	"hale/internal/platform/fault"
)

// wholeAtOnce is the largest file that is sent as one request. A larger one
// goes in parts, so that a line that breaks costs what was on it and no more.
const wholeAtOnce = 8 << 20

// patience is the time that an upload waits for a server that does not answer.
const patience = 5 * time.Minute

// uploadState holds the fields of an upload in parts that the command reads.
type uploadState struct {
	ID     string          `json:"id"`
	Offset int64           `json:"offset"`
	Import json.RawMessage `json:"import"`
}

func (u *uploadState) whole() bool { return len(u.Import) > 0 && string(u.Import) != "null" }

// parts is an upload in parts.
type parts struct {
	shell  *shell
	server *client.Client
	file   *os.File
	size   int64
	path   string // of the upload, once it has begun
	meter  *progress.Meter
	stuck  time.Duration // without anything that arrived
}

// uploadInParts sends a file and resumes by itself after a broken connection. The same
// command resumes as well: the server knows the file by its digest.
func (s *shell) uploadInParts(ctx context.Context, server *client.Client, file *os.File, size int64, user string, order importOrder) (json.RawMessage, error) {
	digest := sha256.New()
	if _, err := io.Copy(digest, file); err != nil {
		return nil, err
	}
	var state uploadState
	body, err := server.Call(ctx, client.Request{
		Method: http.MethodPost, Path: client.Path("v2", "user", user, "uploads"), Body: map[string]any{
			"size": size, "kind": order.kind, "history_only": order.historyOnly, "sha256": hex.EncodeToString(digest.Sum(nil)),
		},
	})
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body, &state); err != nil {
		return nil, fmt.Errorf("unexpected answer to the upload: %w", err)
	}
	p := &parts{
		shell: s, server: server, file: file, size: size, path: client.Path("v2", "user", user, "uploads", state.ID),
		meter: progress.Start(s.err, progress.Options{Label: "upload", Unit: progress.Bytes, Total: size, Terminal: s.terminal}),
	}
	if state.Offset > 0 {
		s.sayDone("resuming the upload at %d of %d bytes", state.Offset, size)
	}
	made, err := p.run(ctx, state)
	p.meter.Finish(err == nil)
	if errors.Is(err, context.Canceled) {
		return nil, withHint(errInterrupted, "nothing was imported; run the same command to resume the upload")
	}
	return made, err
}

// run sends part after part until the file has become an import.
func (p *parts) run(ctx context.Context, state uploadState) (json.RawMessage, error) {
	for !state.whole() {
		next, err := p.send(ctx, state.Offset)
		if err != nil {
			if !isTemporary(err) {
				return nil, err
			}
			if next, err = p.where(ctx, err); err != nil {
				return nil, err
			}
		}
		if next.Offset == state.Offset && !next.whole() {
			p.stuck += pauseBetween
			if p.stuck > patience {
				return nil, withHint(fault.New(fault.Unavailable, "the upload makes no progress"), "run the same command to resume the upload")
			}
			if err := sleep(ctx, pauseBetween); err != nil {
				return nil, err
			}
		} else {
			p.stuck = 0
		}
		state = next
	}
	return state.Import, nil
}

// isTemporary reports whether a part that failed may succeed later: the connection
// failed, or the server has another offset.
func isTemporary(err error) bool {
	return fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Conflict)
}

// pauseBetween is the time before a part or a question is sent again.
const pauseBetween = 300 * time.Millisecond

// where asks until the server answers where the upload is.
func (p *parts) where(ctx context.Context, cause error) (state uploadState, err error) {
	for waited := time.Duration(0); waited < patience; waited += pauseBetween {
		if err := sleep(ctx, pauseBetween); err != nil {
			return state, err
		}
		if state, err = p.ask(ctx); err == nil || !isTemporary(err) {
			return state, err
		}
	}
	return state, withHint(cause, "run the same command to resume the upload")
}

// send sends everything behind an offset.
func (p *parts) send(ctx context.Context, offset int64) (state uploadState, err error) {
	if _, err := p.file.Seek(offset, io.SeekStart); err != nil {
		return state, err
	}
	p.meter.Set(offset, p.size, "")
	body, err := p.server.Call(ctx, client.Request{
		Method: http.MethodPatch, Path: p.path, Raw: p.meter.Reader(io.LimitReader(p.file, p.size-offset)), Length: p.size - offset, Timeout: -1,
		Header: http.Header{"Content-Type": {"application/offset+octet-stream"}, "Upload-Offset": {strconv.FormatInt(offset, 10)}},
	})
	if err != nil {
		return state, err
	}
	return state, json.Unmarshal(body, &state)
}

// ask asks where the upload is.
func (p *parts) ask(ctx context.Context) (state uploadState, err error) {
	body, err := p.server.Call(ctx, client.Request{Method: http.MethodGet, Path: p.path})
	if err != nil {
		return state, err
	}
	return state, json.Unmarshal(body, &state)
}
