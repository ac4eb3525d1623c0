package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"hale/internal/harness/rawhttp"
)

// growthCall is a request of a comparison. Path, headers and body contain names in braces,
// such as {id}. Each request gets other values for them. A comparison lists its names.
type growthCall struct {
	name, method, path, body string

	headers []string          // full lines, with names in braces
	media   string            // media type of the body; empty for JSON
	keeps   map[string]string // fields of the answer by the names of their values
	most    int               // largest number of requests; 0 for mostCalls
	field   string            // repeat until this field of the answer has the ending
	ending  string
	before  []growthCall // sent before each request, not measured
	hidden  bool         // prepares the calls below: not measured and not printed
}

func get(name, path string) growthCall {
	return growthCall{name: name, method: http.MethodGet, path: path}
}

func del(name, path string) growthCall {
	return growthCall{name: name, method: http.MethodDelete, path: path}
}

func post(name, path, body string) growthCall {
	return growthCall{name: name, method: http.MethodPost, path: path, body: body}
}

func patch(name, path, body string) growthCall {
	return growthCall{name: name, method: http.MethodPatch, path: path, body: body}
}

func put(name, path, body string) growthCall {
	return growthCall{name: name, method: http.MethodPut, path: path, body: body}
}

// keep keeps a field of each answer as a value for later calls. The field is a path such
// as order.id or data.0.id. In a list, * selects all items, and lab=quest those with that
// field. A text after a space begins the value: the part after it is kept. In place of a
// field it may be a name in braces, whose value in the request is kept. The nth request of
// a later call gets the nth value, and writes end with the last one.
func (c growthCall) keep(name, field string) growthCall {
	keeps := map[string]string{name: field}
	for other, of := range c.keeps {
		keeps[other] = of
	}
	c.keeps = keeps
	return c
}

// prepare hides a call, and sends it like a measured one.
func (c growthCall) prepare() growthCall {
	c.hidden = true
	return c
}

// once hides a call, and sends it once.
func (c growthCall) once() growthCall {
	c.most = 1
	return c.prepare()
}

// times limits the number of requests.
func (c growthCall) times(n int) growthCall {
	c.most = n
	return c
}

// until hides a read, and repeats it until the text of a field has an ending. An empty
// ending accepts any text.
func (c growthCall) until(field, ending string) growthCall {
	c.field, c.ending = field, ending
	return c.prepare()
}

// after sends another request before each request.
func (c growthCall) after(before growthCall) growthCall {
	c.before = append(c.before[:len(c.before):len(c.before)], before)
	return c
}

func (c growthCall) header(line string) growthCall {
	c.headers = append(c.headers[:len(c.headers):len(c.headers)], line)
	return c
}

func (c growthCall) as(media string) growthCall {
	c.media = media
	return c
}

var nameInBraces = regexp.MustCompile(`\{[a-z_]+\}`)

// namesOf returns the names in braces of a call.
func (c growthCall) namesOf() (names []string) {
	for _, found := range nameInBraces.FindAllString(c.path+strings.Join(c.headers, "")+c.body, -1) {
		names = append(names, strings.Trim(found, "{}"))
	}
	return names
}

// limit returns the number of requests that a call can have.
func (in *installation) limit(c growthCall) int {
	most := mostCalls
	if c.most > 0 {
		most = c.most
	}
	if c.method == http.MethodGet && !c.hidden {
		return most
	}
	return in.alternatives(c, most)
}

// alternatives returns the number of different requests of a read, at most a number. Users
// and kept values belong together: the nth value is of the nth user.
func (in *installation) alternatives(c growthCall, most int) int {
	for _, name := range c.namesOf() {
		if kept := in.kept[name]; len(kept) > 1 {
			most = min(most, len(kept))
		}
	}
	return most
}

// drop drops the values that the n requests of a write or a hidden call did not use. So a
// later call gets only objects that all calls before it have prepared.
func (in *installation) drop(c growthCall, n int) {
	if c.method == http.MethodGet && !c.hidden || c.most == 1 {
		return
	}
	for _, name := range c.namesOf() {
		if kept := in.kept[name]; len(kept) > 1 {
			in.kept[name] = kept[:min(n, len(kept))]
		}
	}
}

// complete replaces the names in a text with the values of the nth request.
func (in *installation) complete(c growthCall, text string, n int) string {
	values := in.values(c, n)
	return nameInBraces.ReplaceAllStringFunc(text, func(found string) string {
		name := strings.Trim(found, "{}")
		if kept := in.kept[name]; len(kept) > 0 {
			return kept[n%len(kept)]
		}
		if value, ok := values[name]; ok {
			return value
		}
		return found
	})
}

// errRefused marks a call that the service refused. The other calls continue.
var errRefused = errors.New("refused")

// send sends the nth request of a call and keeps values of its answer.
func (in *installation) send(c growthCall, n int) (time.Duration, error) {
	path := in.complete(c, c.path, n)
	head := rawhttp.Head(c.method, path, in.server.Address(), "x-service-api-key: "+in.key)
	for _, line := range c.headers {
		head = append(head, in.complete(c, line, n)+"\r\n"...)
	}
	body, media := []byte(in.complete(c, c.body, n)), c.media
	if media == "" {
		media = "application/json"
	}
	for give := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		began := time.Now()
		answer, err := in.conn.DoAs(media, head, body)
		took := time.Since(began)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", c.name, err)
		}
		if c.field != "" && time.Now().Before(give) && !c.ended(answer) {
			continue
		}
		if answer.Status/100 != 2 {
			return 0, fmt.Errorf("%s: %s %s was answered %d: %.300s: %w", c.name, c.method, path, answer.Status, bytes.TrimSpace(answer.Body), errRefused)
		}
		return took, in.keepValues(c, n, answer.Body)
	}
}

// ended reports whether the answer has the text that the call waits for.
func (c growthCall) ended(answer rawhttp.Response) bool {
	if answer.Status/100 != 2 {
		return false
	}
	found := valuesAt(answer.Body, c.field)
	return len(found) > 0 && strings.HasSuffix(found[0], c.ending)
}

func (in *installation) keepValues(c growthCall, n int, answer []byte) error {
	for name, field := range c.keeps {
		found := []string{in.complete(c, field, n)}
		if !strings.HasPrefix(field, "{") {
			if found = valuesAt(answer, field); len(found) == 0 {
				return fmt.Errorf("%s: the answer has no %s: %.300s: %w", c.name, field, answer, errRefused)
			}
		}
		in.kept[name] = append(in.kept[name], found...)
	}
	return nil
}

// valuesAt returns the texts at a path of a JSON document, without null.
func valuesAt(document []byte, path string) (texts []string) {
	var whole any
	if json.Unmarshal(document, &whole) != nil {
		return nil
	}
	path, mark, _ := strings.Cut(path, " ")
	at := []any{whole}
	for _, part := range strings.Split(path, ".") {
		var next []any
		for _, value := range at {
			switch value := value.(type) {
			case map[string]any:
				next = append(next, value[part])
			case []any:
				if name, want, filter := strings.Cut(part, "="); filter {
					for _, item := range value {
						if object, ok := item.(map[string]any); ok && object[name] == want {
							next = append(next, item)
						}
					}
				} else if part == "*" {
					next = append(next, value...)
				} else if i, err := strconv.Atoi(part); err == nil && i < len(value) {
					next = append(next, value[i])
				}
			}
		}
		at = next
	}
	for _, value := range at {
		switch value := value.(type) {
		case string:
			if _, after, found := strings.Cut(value, mark); found {
				texts = append(texts, after)
			}
		case float64:
			texts = append(texts, strconv.FormatFloat(value, 'f', -1, 64))
		}
	}
	return texts
}
