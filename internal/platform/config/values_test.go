package config

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]Bytes{
		"0": 0, "512": 512, "512B": 512, "64KiB": 64 << 10, "1.5MiB": 3 << 19, "2GB": 2e9, " 3 mib ": 3 << 20,
	} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("ParseBytes(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "nan", "inf", "1e30", "12 apples"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("ParseBytes(%q) = %d, want an error", text, got)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "30d": 720 * time.Hour, "1.5d": 36 * time.Hour,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "1w", "nand", "infd", "1e9d"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("ParseDuration(%q) = %s, want an error", text, got)
		}
	}
}

func TestPrintedValuesReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := Bytes(rapid.Int64Range(1, 1<<52).Draw(t, "size"))
		if got, err := ParseBytes(size.String()); err != nil || got != size {
			t.Fatalf("%d prints as %s and reads as %d, %v", size, size, got, err)
		}
		span := time.Duration(rapid.Int64Range(1, 1<<52).Draw(t, "span"))
		if got, err := ParseDuration(formatDuration(span)); err != nil || got != span {
			t.Fatalf("%d prints as %s and reads as %d, %v", span, formatDuration(span), got, err)
		}
	})
}

func TestValuesMaskSecrets(t *testing.T) {
	c, err := Load(Input{LookupEnv: environ(
		"HALE_DATABASE=postgres://hale:hunter2@db.example:5432/hale?sslmode=require&sslpassword=hunter3",
		"HALE_BOOTSTRAP_API_KEY=sk_hunter4",
		"HALE_ROOT_KEY=aHVudGVyNWh1bnRlcjVodW50ZXI1aHVudGVyNWh1bnQ=")})
	if err != nil {
		t.Fatal(err)
	}
	printed, err := json.Marshal(c.Values())
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"hunter", "aHVudGVy"} {
		if strings.Contains(string(printed), secret) {
			t.Errorf("a secret is shown: %s", printed)
		}
	}
	for _, want := range []string{"db.example:5432", "sslmode=require", MaskedValue} {
		if !strings.Contains(string(printed), want) {
			t.Errorf("%s is missing in %s", want, printed)
		}
	}
}

func TestUnknownVariables(t *testing.T) {
	got := UnknownVariables([]string{
		"HALE_LISTEN=x", "HALE_ROOT_KEY_FILE=y", "HALE_URL=z", "PATH=p", "HALE_DATBASE=d",
	})
	if len(got) != 1 || got[0] != "HALE_DATBASE" {
		t.Errorf("unknown = %v, want the misspelt one", got)
	}
}

func TestSettingsAreWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range settings {
		if seen[s.Key] || seen[s.Env] || s.Usage == "" || !strings.HasPrefix(s.Env, "HALE_") {
			t.Errorf("%s: keys and variables are unique, explained and begin with HALE_", s.Key)
		}
		seen[s.Key], seen[s.Env] = true, true
		if s.NoFlag && !s.Secret {
			t.Errorf("%s: only secrets stay off the command line", s.Key)
		}
	}
}
