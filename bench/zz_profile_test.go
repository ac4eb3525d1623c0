package main

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"hale/internal/app/apptest"
	"hale/internal/harness/lean"
	"hale/internal/harness/load"
	"hale/internal/store/storetest"
)

func TestZZProfile(t *testing.T) {
	if os.Getenv("ZZ") == "" {
		t.Skip()
	}
	d := storetest.NewSQLite(t)
	if os.Getenv("ZZ") == "pg" {
		d = storetest.NewPostgres(t)
	}
	a := apptest.Start(t, d)
	in, err := openInbox()
	if err != nil {
		t.Fatal(err)
	}
	defer in.close()
	if os.Getenv("ZZNOHOOK") == "" {
		a.Expect(200, "POST", "/v2/webhooks", `{"url":"`+in.url("/hook")+`"}`, nil)
	}
	addr := strings.TrimPrefix(a.URL(), "http://")
	var heads [][]byte
	for i := range 500 {
		_, body := a.Call("POST", "/v2/user", `{"client_user_id":"x`+string(rune('a'+i%26))+strings.Repeat("y", i/26)+`"}`)
		id := strings.Split(strings.Split(string(body), `"user_id":"`)[1], `"`)[0]
		heads = append(heads, lean.Head("POST", pushPath(id), addr, "x-service-api-key: "+apptest.Key))
	}
	p := &pusher{bench: &bench{}, inbox: in}
	r, err := load.Run(t.Context(), load.Plan{Address: addr, Conns: 64, For: 8 * time.Second}, func(w *load.Worker, n int) error {
		return p.push(w.Conn, heads, p.next.Add(1)-1)
	})
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("ZZNOHOOK") == "" {
		in.wait(context.Background(), 0, p.next.Load())
	}
	t.Log(r.PerSecond(), p.next.Load())
}
