package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hale/internal/app"
	"hale/internal/cli/progress"
	"hale/internal/people/users"
	"hale/internal/platform/config"
	"hale/internal/platform/ops"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
)

func (s *shell) examineSettings(cfg *config.Config) finding {
	if err := app.CheckFirstTeam(cfg); err != nil {
		return finding{"settings", verdictBroken, err.Error(), "correct the setting: hale serve does not start with it"}
	}
	if unknown := config.UnknownVariables(s.environ); len(unknown) > 0 {
		return finding{"settings", verdictWarning, "unknown variables: " + strings.Join(unknown, ", "), "hale config show -o json lists the known variables"}
	}
	return finding{Check: "settings", Verdict: verdictOK, Detail: "valid"}
}

// examineNetworks checks the networks file as hale serve does.
func examineNetworks(cfg *config.Config) finding {
	warnings, err := app.ExamineNetworks(cfg)
	if err != nil {
		return finding{"networks", verdictBroken, strings.ReplaceAll(err.Error(), "\n", "; "), "docs/hl7.md describes the networks file"}
	}
	if len(warnings) > 0 {
		return finding{"networks", verdictWarning, strings.Join(warnings, "; "), "docs/hl7.md#secure-the-listener"}
	}
	if cfg.Networks == "" {
		return finding{Check: "networks", Verdict: verdictOK, Detail: "no networks file"}
	}
	return finding{Check: "networks", Verdict: verdictOK, Detail: absolutePath(cfg.Networks) + " is valid"}
}

// examineExposures returns a finding for each connection over which data enters or leaves
// this machine.
func examineExposures(cfg *config.Config) (all []finding) {
	for _, e := range app.Exposures(cfg) {
		f := finding{Check: e.Check, Verdict: verdictOK, Detail: e.Detail}
		if e.Risk && cfg.Production() {
			f.Verdict, f.Hint = verdictBroken, "protect it, or set --"+e.Allow+" if another layer does; hale docs security"
			if e.Allowed {
				f.Verdict, f.Detail, f.Hint = verdictWarning, e.Detail+", allowed by "+e.Allow, "make sure that another layer protects it"
			}
		}
		all = append(all, f)
	}
	if err := app.CheckExposure(cfg); err != nil && all[0].Verdict == verdictOK && cfg.UsesTLS() {
		all[0] = finding{"tls", verdictBroken, strings.ReplaceAll(err.Error(), "\n", "; "), "name files in PEM"}
	}
	if cfg.TLSCert != "" && all[0].Verdict == verdictOK {
		all[0] = examineCertificate(cfg, all[0], time.Now())
	}
	return all
}

// certificateNotice is the time before the end of a certificate from which the doctor warns.
const certificateNotice = 14 * 24 * time.Hour

// examineCertificate returns valid unless the certificate has expired or soon will.
func examineCertificate(cfg *config.Config, valid finding, now time.Time) finding {
	end, err := app.CertificateEnd(cfg)
	if err != nil {
		return finding{"tls", verdictBroken, err.Error(), "name files in PEM"}
	}
	const hint = "replace both files; a running server reads them again"
	switch day := end.UTC().Format(time.DateOnly); {
	case !now.Before(end):
		return finding{"tls", verdictBroken, cfg.TLSCert + " expired on " + day, hint}
	case end.Sub(now) < certificateNotice:
		return finding{"tls", verdictWarning, cfg.TLSCert + " expires on " + day, hint}
	}
	return valid
}

// probeSize is the number of bytes that the doctor writes to test the disk.
const probeSize = 64 << 10

func examineFolder(cfg *config.Config) finding {
	info, err := os.Stat(cfg.Data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return finding{"data folder", verdictOK, absolutePath(cfg.Data) + " does not exist yet", "hale serve creates it"}
	case err != nil:
		return finding{"data folder", verdictBroken, err.Error(), "make the user that runs hale its owner"}
	case !info.IsDir():
		return finding{"data folder", verdictBroken, absolutePath(cfg.Data) + " is a file", "set --data to a folder"}
	}
	probe, err := os.CreateTemp(cfg.Data, ".doctor-*")
	if err != nil {
		return finding{"data folder", verdictBroken, "not writable: " + err.Error(), "make the user that runs hale its owner"}
	}
	_, err = probe.Write(make([]byte, probeSize))
	if err := errors.Join(err, probe.Sync(), probe.Close(), os.Remove(probe.Name())); err != nil {
		return finding{"data folder", verdictBroken, "not writable: " + err.Error(), writeHint}
	}
	if info.Mode().Perm()&0o077 != 0 {
		return finding{"data folder", verdictWarning, "other users of this machine can read " + absolutePath(cfg.Data), "chmod 700 " + cfg.Data}
	}
	return finding{Check: "data folder", Verdict: verdictOK, Detail: absolutePath(cfg.Data)}
}

// comfortableSpace is the free disk space below which the doctor warns: an import of a large
// export needs about as much.
const comfortableSpace = 5 << 30

func examineDisk(cfg *config.Config) finding {
	folder := absolutePath(cfg.Data)
	for {
		if _, err := os.Stat(folder); err == nil || filepath.Dir(folder) == folder {
			break
		}
		folder = filepath.Dir(folder)
	}
	free, _, err := ops.DiskSpace(folder)
	if err != nil {
		return finding{"disk", verdictBroken, err.Error(), ""}
	}
	return room(free)
}

func room(free uint64) finding {
	f := finding{Check: "disk", Verdict: verdictOK, Detail: progress.Size(int64(free)) + " free"}
	switch {
	case free < ops.MinFree:
		f.Verdict, f.Hint = verdictBroken, "free some space: below "+progress.Size(ops.MinFree)+" a node reports that it is not ready"
	case free < comfortableSpace:
		f.Verdict, f.Hint = verdictWarning, "large imports need space for the upload and for the database"
	}
	return f
}

func examineRootKey(cfg *config.Config) finding {
	if cfg.RootKey != "" {
		return finding{Check: "root key", Verdict: verdictOK, Detail: "set by " + cfg.Origin("root-key").String()}
	}
	path := rootKeyPath(cfg)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Join(cfg.Data, store.FileName)); err == nil {
			return finding{"root key", verdictWarning, "there is a database and no " + path, "restore your copy of the key; hale serve does not start if the database was encrypted with another key"}
		}
		return finding{"root key", verdictOK, "none yet", "hale serve creates one; keep a copy in another place"}
	}
	if err != nil {
		return finding{"root key", verdictBroken, err.Error(), ""}
	}
	if _, _, err := secrets.RootFile(cfg.Data); err != nil {
		return finding{"root key", verdictBroken, err.Error(), rootKeyHint(path, err)}
	}
	if info.Mode().Perm()&0o077 != 0 {
		return finding{"root key", verdictBroken, "other users of this machine can read " + path, "chmod 600 " + path}
	}
	return finding{Check: "root key", Verdict: verdictOK, Detail: path + "; keep a copy in another place"}
}

// rootKeyHint returns the remedy for a root key that cannot be read.
func rootKeyHint(path string, err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return "make the user that runs hale the owner of " + path + ", and chmod 600 it"
	}
	return "restore your copy of " + path
}

// examineErasures reads the list of erased people. It returns nothing if the list is whole.
func examineErasures(cfg *config.Config) []finding {
	const name = "erasures"
	root, err := existingRoot(cfg)
	if err != nil {
		return nil // the row of the root key has it
	}
	if root == nil {
		root = new(secrets.Root)
	}
	list := users.OpenErasures(cfg.Data, root)
	if err := app.CheckErasures(list, false); err != nil {
		return []finding{{name, verdictBroken, withoutPackage(err.Error()), "hale serve refuses to start; hale docs users"}}
	}
	if t, err := list.Examine(); err == nil && len(t.Cut) > 0 {
		return []finding{{
			name, verdictWarning, fmt.Sprintf("the lines %v of the list of erasures are cut short", t.Cut),
			"a crash during an erasure leaves such a line; otherwise put a whole copy of the file back",
		}}
	}
	return nil
}

// earliestClock is a time before which this program cannot have been started. A clock that shows
// an earlier time is wrong.
var earliestClock = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (s *shell) examineClock() finding {
	now := s.now().UTC()
	if now.Before(earliestClock) {
		return finding{"clock", verdictBroken, "this machine's clock shows " + now.Format(time.RFC3339), "set the clock: signatures and due times depend on it"}
	}
	return finding{Check: "clock", Verdict: verdictOK, Detail: now.Format(time.RFC3339)}
}

// examineAddress tries to listen on an address. A taken address is no problem if Hale
// uses it.
func examineAddress(ctx context.Context, name, address, base string) finding {
	if address == "" {
		return finding{Check: name, Verdict: verdictOK, Detail: "off"}
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err == nil {
		_ = listener.Close()
		return finding{Check: name, Verdict: verdictOK, Detail: address + " is free"}
	}
	if !addressInUse(err) {
		return finding{name, verdictBroken, addressTrouble(name, address, err).Error(), "set --" + name + " to another address"}
	}
	if ready, alive := askReady(ctx, base); alive {
		f := finding{Check: name, Verdict: verdictOK, Detail: "hale serves " + address + " and is ready"}
		if !ready {
			f.Verdict, f.Detail = verdictBroken, "hale serves "+address+" and is not ready"
			f.Hint = "curl " + base + "/readyz shows the failing check; the log line `not ready` has the reason"
		}
		return f
	}
	return finding{name, verdictWarning, "another program listens at " + address, "set --" + name + " to another address"}
}

// askReady asks a node whether it is ready. alive reports whether a node answers.
func askReady(ctx context.Context, base string) (ready, alive bool) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	// The request goes to an IP address, but the certificate names the public host: do not
	// verify it.
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // nothing is sent
	defer client.CloseIdleConnections()
	status := func(path string) int {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, nil)
		if err != nil {
			return 0
		}
		answer, err := client.Do(request)
		if err != nil {
			return 0
		}
		_ = answer.Body.Close()
		return answer.StatusCode
	}
	ready = status("/readyz") == http.StatusOK
	return ready, ready || status("/livez") == http.StatusOK
}

func examineWebhooks(cfg *config.Config) finding {
	switch {
	case cfg.WebhookAllowPrivate && cfg.Production():
		return finding{"webhooks", verdictWarning, "allowed to loopback and private networks, in production", "turn webhook-allow-private off unless you own every receiver"}
	case cfg.WebhookAllowPrivate:
		return finding{Check: "webhooks", Verdict: verdictOK, Detail: "allowed to loopback and private networks"}
	}
	return finding{Check: "webhooks", Verdict: verdictOK, Detail: "allowed to public addresses only; hale listen forwards to a receiver on this machine"}
}

// scansTimeout limits the call of the program for scans.
const scansTimeout = 5 * time.Second

// examineScans looks for the program that recognizes the text of scanned lab reports, and
// for its English model.
func examineScans(ctx context.Context, cfg *config.Config) finding {
	const check, hint = "scans", "install the package tesseract-ocr (Debian: sudo apt-get install tesseract-ocr); reports with text work without it"
	path, err := exec.LookPath(cfg.Tesseract)
	if err != nil {
		return finding{check, verdictWarning, "no program " + cfg.Tesseract + ": scanned lab reports cannot be read", hint}
	}
	ctx, cancel := context.WithTimeout(ctx, scansTimeout)
	defer cancel()
	models, err := exec.CommandContext(ctx, path, "--list-langs").CombinedOutput()
	if err != nil {
		return finding{check, verdictWarning, path + " does not run: " + err.Error(), hint}
	}
	if !slices.Contains(strings.Fields(string(models)), "eng") {
		return finding{check, verdictWarning, path + " has no English model", "install the package tesseract-ocr-eng"}
	}
	return finding{Check: check, Verdict: verdictOK, Detail: path}
}
