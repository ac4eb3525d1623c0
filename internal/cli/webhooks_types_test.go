package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The printed types have every event type, and compilers accept them.
func TestWebhooksTypes(t *testing.T) {
	doc, err := readEventDocument()
	if err != nil {
		t.Fatal(err)
	}
	typeScript, python := typeScriptTypes(doc), pythonTypes(doc)
	for event := range doc.Webhooks {
		if n := strings.Count(typeScript, `"`+event+`": `); n != 1 {
			t.Errorf("%s occurs %d times in TypeScript", event, n)
		}
		if n := strings.Count(python, `Literal["`+event+`"]`); n != 1 {
			t.Errorf("%s occurs %d times in Python", event, n)
		}
	}
	t.Run("TypeScript", func(t *testing.T) {
		compiler, err := filepath.Abs("../../clients/node_modules/.bin/tsc")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(compiler); err != nil {
			t.Skip("the TypeScript compiler is not here: npm ci in clients/ brings it")
		}
		folder := t.TempDir()
		write(t, filepath.Join(folder, "hale-events.ts"), []byte(typeScript))
		write(t, filepath.Join(folder, "use.ts"), []byte(`import type { HaleEvent } from "./hale-events";
export function read(event: HaleEvent): string | undefined {
  switch (event.event_type) {
    case "user.created":
      return event.data.user_id;
    case "daily.data.steps.created":
      return event.data.data[0]?.timestamp;
    case "labtest.order.updated":
      return event.data.id;
    default:
      return event.team_id;
  }
}
// @ts-expect-error: there is no such event type
export const wrong: HaleEvent["event_type"] = "user.painted";
`))
		runCompiler(t, compiler, "--strict", "--noEmit", "--target", "es2022", "--module", "nodenext", filepath.Join(folder, "use.ts"))
	})
	t.Run("Python", func(t *testing.T) {
		interpreter, err := exec.LookPath("python3")
		if err != nil {
			t.Skip("Python is not here")
		}
		if exec.CommandContext(t.Context(), interpreter, "-c", "from typing import NotRequired").Run() != nil {
			t.Skip("Python is older than 3.11")
		}
		folder := t.TempDir()
		write(t, filepath.Join(folder, "hale_events.py"), []byte(python))
		use := filepath.Join(folder, "use.py")
		write(t, use, []byte(`from hale_events import HaleEvent


def read(event: HaleEvent) -> str:
    if event["event_type"] == "user.created":
        return event["data"]["user_id"]
    if event["event_type"] == "daily.data.steps.created":
        return event["data"]["data"][0]["timestamp"]
    return event["team_id"]
`))
		runCompiler(t, interpreter, "-B", use)
		checker, err := exec.LookPath("mypy")
		if err != nil {
			t.Skip("the types compile; mypy, which checks them, is not here")
		}
		runCompiler(t, checker, "--strict", "--cache-dir", filepath.Join(folder, "cache"), use)
	})
}

func runCompiler(t *testing.T, name string, args ...string) {
	t.Helper()
	if text, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", name, err, text)
	}
}
