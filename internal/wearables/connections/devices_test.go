package connections_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/connections"
)

// anotherDevice returns a text of n random characters out of the 16,000 that begin with
// first. An index cannot compress such a text.
func anotherDevice(first rune, n int) string {
	var b strings.Builder
	for range n {
		b.WriteRune(first + rune(rand.IntN(16_000)))
	}
	return b.String()
}

// A device that passes Check is stored unchanged, in both databases. Two devices that
// differ in one character stay two devices.
func TestLongTextsDistinguishDevices(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		long := func() string { return anotherDevice('一', 199) }
		d := connections.Device{
			Provider: "apple_health_kit", SourceType: "exercise_machine", AppID: long() + "a", Manufacturer: long() + "a",
			Model: long() + "a", ExternalID: long() + "a", Version: long() + "a",
		}
		seen := map[connections.DeviceID]bool{}
		see := func(d connections.Device) {
			t.Helper()
			if err := d.Check(); err != nil {
				t.Fatal(err)
			}
			userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
				id, err := connections.EnsureDevice(ctx, tx, user, d)
				if err != nil {
					return err
				}
				known, err := connections.GetDevice(ctx, tx, user.Team, user.ID, id)
				if known.AppID != d.AppID || known.Manufacturer != d.Manufacturer || known.Model != d.Model || known.ExternalID != d.ExternalID || known.Version != d.Version {
					t.Errorf("%+v became %+v", d, known)
				}
				seen[id] = true
				return err
			})
		}
		see(d)
		for _, text := range []*string{&d.AppID, &d.Manufacturer, &d.Model, &d.ExternalID} {
			*text = strings.TrimSuffix(*text, "a") + "b"
			see(d)
		}
		d.ExternalID = strings.Repeat("語", 69) + "甲"
		see(d)
		d.ExternalID = strings.Repeat("語", 69) + "乙"
		see(d)
		if len(seen) != 7 {
			t.Errorf("%d devices, want 7", len(seen))
		}
	})
}

func TestCheckOfADevice(t *testing.T) {
	for name, c := range map[string]struct {
		device connections.Device
		want   []string
	}{
		"whole":           {connections.Device{SourceType: " watch ", Model: " One "}, nil},
		"no source type":  {connections.Device{ExternalID: "7"}, nil},
		"no properties":   {connections.Device{}, []string{"device_model"}},
		"white space":     {connections.Device{Model: " \t ", Manufacturer: "\u3000"}, []string{"device_model"}},
		"a new type":      {connections.Device{Model: "One", SourceType: "toaster"}, []string{"source_type"}},
		"a bell":          {connections.Device{Model: "One\a", AppID: "a\x7fb"}, []string{"app_id", "device_model"}},
		"two lines":       {connections.Device{Model: "One", Version: "1\n2"}, []string{"device_version"}},
		"201 characters":  {connections.Device{ExternalID: strings.Repeat("é", 201)}, []string{"device_id"}},
		"200 characters":  {connections.Device{ExternalID: strings.Repeat("語", 200)}, nil},
		"200 of 4 bytes":  {connections.Device{Manufacturer: strings.Repeat("😀", 200)}, []string{"device_manufacturer"}},
		"several at once": {connections.Device{SourceType: "toaster", Version: "\x01"}, []string{"device_version", "source_type", "device_model"}},
	} {
		err := c.device.Check()
		var list fault.List
		errors.As(err, &list)
		var got []string
		for _, e := range list {
			got = append(got, e.Loc()[1])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// The devices in files may have any text. The store removes invalid and control
// characters, and cuts long texts.
func TestDevicesOfFilesAreCutToLength(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		user := userstest.New(t, db, userstest.Team(t, db).ID, users.NewUser{})
		for sent, want := range map[string]string{
			strings.Repeat("語", 201):      strings.Repeat("語", 200),
			strings.Repeat("😀", 201):      strings.Repeat("😀", 150),
			"\x1b[1mOne\x00\xff\nPlus ":   "[1mOnePlus",
			strings.Repeat("x", 1<<20):    strings.Repeat("x", 200),
			"Edge\u200d " + "\u00a0 530 ": "Edge\u200d \u00a0 530",
		} {
			userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
				id, err := connections.EnsureDevice(ctx, tx, user, connections.Device{Provider: "garmin", Model: sent})
				if err != nil {
					return err
				}
				known, err := connections.GetDevice(ctx, tx, user.Team, user.ID, id)
				if known.Model != want {
					t.Errorf("%.20q… is kept as %.20q…", sent, known.Model)
				}
				return err
			})
		}
	})
}
