package partners

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"hale/internal/labs/networks/settingsfile"
	"hale/internal/platform/webhooks"
)

// Slug names this network, and its section of the networks file.
const Slug = "fulfilment"

// Settings hold the partners, by their names.
type Settings struct {
	Partners map[string]Partner `yaml:"partners"`
}

// Partner is a company that visits patients or ships kits.
type Partner struct {
	// URL is the base of the partner's operations.
	URL string `yaml:"url"`
	// SecretFile has the whsec_ secret that signs the posts of both sides. While
	// a secret is replaced it has both, the new one on the first line.
	SecretFile string `yaml:"secret_file"`
	// Kits means that the partner ships test kits: those of Labs, or of all labs.
	Kits bool     `yaml:"kits"`
	Labs []string `yaml:"labs"`
	// Providers are the appointment providers whose visits the partner makes.
	Providers []string `yaml:"providers"`
	// Timeout bounds the time to an answer; the default is 20 seconds.
	Timeout time.Duration `yaml:"timeout"`
}

// ParseSettings reads the section networks.fulfilment of a YAML or JSON document.
func ParseSettings(document []byte) (Settings, error) {
	var s Settings
	wrong, err := settingsfile.Decode(document, Slug, &s)
	if err != nil {
		return Settings{}, err
	}
	return s, errors.Join(append(wrong, s.check()...)...)
}

// namePattern matches the names of partners and providers.
var namePattern = regexp.MustCompile(`^[a-z0-9_]{1,40}$`)

// check returns all faults. Two partners cannot have one provider or the kits of
// one lab.
func (s Settings) check() (faults []error) {
	visits, kits := map[string]string{}, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(s.Partners)) {
		p := s.Partners[name]
		fail := func(format string, args ...any) {
			faults = append(faults, fmt.Errorf("networks.%s.partners.%s.%s", Slug, name, fmt.Sprintf(format, args...)))
		}
		if !namePattern.MatchString(name) {
			fail("name: must be lower-case letters, digits and underscores")
		}
		if !isSafeURL(p.URL) {
			fail("url: must be an https URL, or http on loopback")
		}
		if p.SecretFile == "" {
			fail("secret_file: is needed")
		}
		if p.Timeout < 0 {
			fail("timeout: must not be negative")
		}
		if !p.Kits && len(p.Providers) == 0 {
			fail("kits: or providers are needed")
		}
		if len(p.Labs) > 0 && !p.Kits {
			fail("labs: need kits: true")
		}
		for _, provider := range p.Providers {
			if !namePattern.MatchString(provider) {
				fail("providers: must be lower-case letters, digits and underscores")
			}
			if other, taken := visits[provider]; taken {
				fail("providers: %s is also a provider of %s", provider, other)
			}
			visits[provider] = name
		}
		labs := p.Labs
		if p.Kits && len(labs) == 0 {
			labs = []string{allLabs}
		}
		for _, lab := range labs {
			if other, taken := kits[lab]; taken {
				fail("labs: %s ships the same kits", other)
			}
			kits[lab] = name
		}
	}
	return faults
}

// allLabs is the key of the labs that no partner names.
const allLabs = ""

func isSafeURL(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	address, err := netip.ParseAddr(u.Hostname())
	loopback := u.Hostname() == "localhost" || err == nil && address.IsLoopback()
	return u.Scheme == "https" || u.Scheme == "http" && loopback
}

// maxSecrets bounds the valid secrets of a partner.
const maxSecrets = 2

// readSecrets returns the valid secrets, newest first.
func (p Partner) readSecrets() ([]webhooks.ValidSecret, error) {
	text, err := os.ReadFile(p.SecretFile)
	if err != nil {
		return nil, err
	}
	var all []webhooks.ValidSecret
	for line := range strings.Lines(strings.TrimSpace(string(text))) {
		secret, err := webhooks.ParseSecret(strings.TrimSpace(line))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", len(all)+1, err)
		}
		all = append(all, webhooks.ValidSecret{Secret: secret})
	}
	if len(all) == 0 || len(all) > maxSecrets {
		return nil, errors.New("needs one secret, or two on two lines while the secret is replaced")
	}
	return all, nil
}
