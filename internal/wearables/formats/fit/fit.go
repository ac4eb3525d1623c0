package fit

import (
	"bytes"
	"context"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/google/uuid"

	"hale/internal/platform/fault"
	"hale/internal/wearables/formats/files"
)

// Kind is that of FIT files.
var Kind = files.Kind{Name: "fit", Title: "FIT file", Recording: true, Check: check, Run: run}

// defaultLimit bounds a file, in bytes: a week at one record a second takes
// half of it.
const defaultLimit = 32 << 20

// The two lengths that a header may have, and the word in it.
const (
	shortHeader = 12
	longHeader  = 14
	magic       = ".FIT"
)

func isHeader(raw []byte) bool {
	return len(raw) >= shortHeader && (raw[0] == shortHeader || raw[0] == longHeader) && bytes.Equal(raw[8:12], []byte(magic))
}

func check(path string, limit int64) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	head := make([]byte, shortHeader)
	if _, err := io.ReadFull(file, head); err != nil || !isHeader(head) {
		return files.Unlike("this is not a FIT file: the header of one is missing")
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if most := atMost(limit); info.Size() > most {
		return fault.Newf(fault.TooLarge, "a FIT file may have at most %d bytes", most)
	}
	return nil
}

func atMost(limit int64) int64 {
	if limit <= 0 {
		return defaultLimit
	}
	return min(limit, defaultLimit)
}

// run imports a file. It reads the file as a whole, which is small, because the
// sessions of the records follow them.
func run(ctx context.Context, in files.Input) (*files.Outcome, error) {
	outcome := files.NewOutcome()
	if err := check(in.Path, in.Limit); err != nil {
		return outcome, err
	}
	raw, err := os.ReadFile(in.Path)
	if err != nil {
		return outcome, err
	}
	parts, err := readChain(ctx, raw, outcome)
	if err != nil {
		return outcome, err
	}
	stores := map[string]*files.Store{} // a chain may hold files of several makers
	var nights []*fileContent
	owned := &devices{in.Device, map[files.Device]uuid.UUID{}}
	useful := false
	for _, p := range parts {
		found, err := p.find(ctx, owned)
		if err != nil {
			return outcome, err
		}
		if found.empty() {
			continue
		}
		useful = true
		store := stores[found.provider]
		if store == nil {
			if store, err = in.Store(ctx, found.provider, outcome); err != nil {
				return outcome, err
			}
			stores[found.provider] = store
		}
		if err := found.keep(ctx, store, outcome); err != nil {
			return outcome, err
		}
		if found.tellsNights() {
			nights = append(nights, found)
		}
		store.Tell(p.end, int64(len(raw)), outcome.Records, outcome.Skipped())
	}
	if !useful {
		return outcome, fault.New(fault.Unprocessable, "the FIT file holds no workout, monitoring or measurement: "+describe(parts))
	}
	for _, provider := range slices.Sorted(maps.Keys(stores)) {
		if err := stores[provider].Finish(ctx); err != nil {
			return outcome, err
		}
	}
	for _, found := range nights { // the sleeps of the file are stored by now
		if err := found.joinNights(ctx, stores[found.provider], outcome); err != nil {
			return outcome, err
		}
	}
	return outcome, nil
}

// describe names the sort of a file that has no usable data.
func describe(parts []*part) string {
	for _, p := range parts {
		if p.undated {
			return "its times count from when the device was switched on, so the time of day is unknown"
		}
		if word := typeWord(p.id.Type); word != "" {
			return "it is a file of the type " + word
		}
	}
	return "it is empty or damaged"
}
