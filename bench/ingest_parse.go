package main

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"time"
)

// bareParse answers a push after it has parsed the body into columns. Its parser is
// written for the bodies of this program. It checks and stores nothing.
func bareParse(w http.ResponseWriter, r *http.Request) {
	body := make([]byte, max(0, r.ContentLength))
	if _, err := io.ReadFull(r.Body, body); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	at, values, ok := parseColumns(body)
	if !ok {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"success":true,"created":`+strconv.Itoa(min(len(at), len(values)))+`}`) // the caller may have left
}

// parseColumns reads the time, in seconds, and the value of each sample.
func parseColumns(body []byte) (at []int64, values []float64, ok bool) {
	const timestamp, value = `"timestamp":"`, `Z","value":`
	var day int64
	var date []byte
	for {
		i := bytes.Index(body, []byte(timestamp))
		if i < 0 {
			return at, values, true
		}
		body = body[i+len(timestamp):]
		if len(body) < 40 || string(body[19:19+len(value)]) != value {
			return nil, nil, false
		}
		if !bytes.Equal(date, body[:10]) {
			date = body[:10]
			t, err := time.Parse(time.DateOnly, string(date))
			if err != nil {
				return nil, nil, false
			}
			day = t.Unix()
		}
		at = append(at, day+digits(body[11:])*3600+digits(body[14:])*60+digits(body[17:]))
		body = body[19+len(value):]
		whole, scale, n := int64(0), 1.0, 0
		for ; n < len(body) && body[n] != ','; n++ {
			if body[n] == '.' {
				scale = .1
				continue
			}
			whole = whole*10 + int64(body[n]-'0')
		}
		values = append(values, float64(whole)*scale)
		body = body[n:]
	}
}

func digits(b []byte) int64 { return int64(b[0]-'0')*10 + int64(b[1]-'0') }
