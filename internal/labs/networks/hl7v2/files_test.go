package hl7v2

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hale/internal/labs/networks/files"
)

// ofFiles returns a network with one lab that exchanges files, and the root of the lab's
// folder. answers is the setting of the lab.
func ofFiles(t *testing.T, answers bool) (*Network, string) {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"orders", "results"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	lab := modernLab
	lab.Address, lab.Files = "", &files.Settings{Folder: root, Answers: answers}
	n, err := New(Settings{Labs: map[string]Lab{"northlab": lab}}, testTime, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return n, root
}

func TestPlaceAsFile(t *testing.T) {
	for _, answers := range []bool{false, true} {
		n, root := ofFiles(t, answers)
		order := bigOrder()
		for range 2 {
			receipt, err := n.Place(t.Context(), order)
			if err != nil || receipt.Pending != answers || !answers && receipt.SampleID != sampleNumber(order) {
				t.Errorf("%+v, %v", receipt, err)
			}
		}
		if err := n.Cancel(t.Context(), order); err != nil {
			t.Fatal(err)
		}
		names, err := filepath.Glob(filepath.Join(root, "orders", "*"))
		if err != nil || len(names) != 2 {
			t.Fatalf("%q, %v", names, err)
		}
		for i, control := range []string{"NW", "CA"} {
			text, err := os.ReadFile(names[i])
			if err != nil || !strings.Contains(string(text), "\rORC|"+control+"|"+order.ID.String()) {
				t.Errorf("%s: %q, %v", names[i], text, err)
			}
		}
	}
}

// A file is stored whole, or set aside with the messages that are wrong.
func TestTakeFile(t *testing.T) {
	ack := `MSH|^~\&|NLIS|NORTH|HALE|44120|20260302160000||ACK|A1|P|2.5.1` + "\r"
	another := strings.Replace(result, "|N-7|", "|N-8|", 1)
	batch := "FHS|^~\\&\rBHS|^~\\&\r" + result + strings.Replace(another, "NORTH", "SOUTH", 1) + strings.Replace(another, "ORU^R01^ORU_R01", "ADT^A01", 1) + "BTS|3\rFTS|1\r"
	for name, c := range map[string]struct {
		file, reason string
		stored       int
	}{
		"a result":                         {result, "", 1},
		"two results":                      {result + another, "", 2},
		"a batch":                          {batch, "message 2 of 3: this sending application and facility are not configured here\nmessage 3 of 3: this message type is not supported here", 1},
		"a short batch":                    {strings.Replace(batch, "BTS|3", "BTS|4", 1), "the file cannot be read: ", 0},
		"no message":                       {"hello", "the file cannot be read: ", 0},
		"of another lab":                   {strings.Replace(result, "NORTH", "EAST", 1), "message 1 of 1: this connection is not that of the sending", 0},
		"of a test system":                 {strings.Replace(result, "|P|", "|T|", 1), "message 1 of 1: only production messages", 0},
		"an acknowledgment":                {ack + "MSA|AA|X1\r", "", 0},
		"a refusal":                        {ack + "MSA|AR|X1\r", "message 1 of 1: the lab answered AR to the message X1", 0},
		"a truncated value":                {strings.Replace(result, "||||||F\r", "", 1), "message 1 of 1: its last segment has no end", 0},
		"a truncated second result":        {result + strings.TrimSuffix(another, "\r"), "message 2 of 2: its last segment has no end", 1},
		"line feeds":                       {strings.ReplaceAll(result, "\r", "\n"), "", 1},
		"a batch whose trailer has no end": {"BHS|^~\\&\r" + result + "BTS|1", "", 1},
		"a broken message":                 {"MSH|^~\\&|NLIS\r!!!|\r", "message 1 of 1: ", 0},
	} {
		t.Run(name, func(t *testing.T) {
			n, _ := ofFiles(t, false)
			east := modernLab
			east.LabFacility = "EAST"
			n.settings.Labs["eastlab"], n.settings.AcceptUnknown = east, true
			in := &inbox{}
			reason, err := n.takeFile(t.Context(), in, "northlab", []byte(c.file))
			if err != nil || !strings.HasPrefix(reason, c.reason) || c.reason == "" && reason != "" || len(in.messages) != c.stored {
				t.Errorf("%q, %v, %d stored", reason, err, len(in.messages))
			}
			if in.broken = errors.New("disk full"); c.stored > 0 {
				if _, err := n.takeFile(t.Context(), in, "northlab", []byte(c.file)); err == nil {
					t.Error("a file is done that is not stored")
				}
			}
		})
	}
}
