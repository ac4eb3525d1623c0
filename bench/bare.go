package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
)

// The baselines run as processes of their own, as the server does, so that the
// two cores are shared in the same way. This program starts itself for them.

// bareServer answers like the API, on the same router, but stores nothing. It
// decodes a body, reads a header and encodes an answer of the same size.
func bareServer() error {
	type user struct {
		UserID           string    `json:"user_id"`
		ClientUserID     string    `json:"client_user_id"`
		TeamID           string    `json:"team_id"`
		CreatedOn        time.Time `json:"created_on"`
		ConnectedSources []string  `json:"connected_sources"`
		FallbackTimeZone *string   `json:"fallback_time_zone"`
		IngestionStart   *string   `json:"ingestion_start"`
		IngestionEnd     *string   `json:"ingestion_end"`
	}
	answer := func(w http.ResponseWriter, r *http.Request, u user) {
		if r.Header.Get("x-service-api-key") == "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		u.TeamID, u.CreatedOn, u.ConnectedSources = "3fa85f64-5717-4562-b3fc-2c963f66afa6", time.Now(), []string{}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(u) // the caller may have left
	}
	router := chi.NewRouter()
	router.Post("/v2/user", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			ClientUserID string `json:"client_user_id"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		answer(w, r, user{UserID: "5fa85f64-5717-4562-b3fc-2c963f66afa6", ClientUserID: in.ClientUserID})
	})
	router.Get("/v2/user/{user_id}", func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, user{UserID: chi.URLParam(r, "user_id"), ClientUserID: "user-000"})
	})
	router.Post("/parse", bareParse)
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // lives until the parent kills it
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	server := &http.Server{Handler: router, ReadHeaderTimeout: 10 * time.Second}
	return server.Serve(listener)
}

// barePosts sends count signed posts of size bytes to url over conns
// connections and prints their number per second. This is the cost of delivery without
// storage.
func barePosts(url string, conns, count, size int) error {
	transport := &http.Transport{MaxConnsPerHost: conns, MaxIdleConnsPerHost: conns, DisableCompression: true}
	client := &http.Client{Transport: transport, Timeout: 15 * time.Second}
	key := bytes.Repeat([]byte{7}, 32)
	body := bytes.Repeat([]byte{'x'}, size)
	var next, failed atomic.Int64
	run := func(upTo int64) {
		var wg sync.WaitGroup
		for range conns {
			wg.Go(func() {
				for n := next.Add(1); n <= upTo; n = next.Add(1) {
					if err := signedPost(client, url, key, n, body); err != nil {
						failed.Add(1)
					}
				}
			})
		}
		wg.Wait()
	}
	warm := int64(count / 30)
	run(warm)
	next.Store(warm)
	start := time.Now()
	run(warm + int64(count))
	took := time.Since(start)
	if n := failed.Load(); n > 0 {
		return fmt.Errorf("%d bare posts failed", n)
	}
	_, err := fmt.Fprintf(os.Stdout, "%.0f\n", float64(count)/took.Seconds())
	return err
}

func signedPost(client *http.Client, url string, key []byte, n int64, body []byte) error {
	id, now := "msg_bare"+strconv.FormatInt(n, 10), strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + now + "."))
	mac.Write(body)
	signature := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	request, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body)) //nolint:noctx // the client has a timeout
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	for _, prefix := range []string{"webhook-", "svix-"} {
		request.Header.Set(prefix+"id", id)
		request.Header.Set(prefix+"timestamp", now)
		request.Header.Set(prefix+"signature", signature)
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	response.Body.Close()
	return err
}
