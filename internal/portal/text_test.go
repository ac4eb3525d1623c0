package portal

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hale/internal/wearables"
	"hale/internal/wearables/providers"
)

func TestEveryResourceHasAText(t *testing.T) {
	offered := map[string]bool{}
	for _, p := range providers.List() {
		for _, r := range p.SupportedResources {
			offered[r] = true
			if english.resources[r] == "" {
				t.Errorf("%s of %s has no text", r, p.Slug)
			}
		}
	}
	for r := range english.resources {
		if !offered[r] && !wearables.KeepsData(r) {
			t.Errorf("%s is not a resource", r)
		}
	}
}

func TestNoTextIsEmpty(t *testing.T) {
	v := reflect.ValueOf(english)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("%s is empty", v.Type().Field(i).Name)
		}
	}
}

// WCAG 2.2, 1.4.3 and 1.4.11: text 4.5 to 1, edges of controls 3 to 1, on
// both grounds of both themes.
func TestContrast(t *testing.T) {
	css, err := staticFiles.ReadFile("static/portal.css")
	if err != nil {
		t.Fatal(err)
	}
	themes := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(string(css), -1)
	if len(themes) != 2 {
		t.Fatalf("%d themes", len(themes))
	}
	for i, theme := range themes {
		colours := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6})`).FindAllStringSubmatch(theme[1], -1) {
			colours[m[1]] = m[2]
		}
		for _, pair := range []struct {
			ink, ground string
			least       float64
		}{
			{"ink", "ground", 7},
			{"ink", "sheet", 7},
			{"faint", "ground", 4.5},
			{"faint", "sheet", 4.5},
			{"action", "ground", 4.5},
			{"on-action", "action", 4.5},
			{"wrong", "ground", 4.5},
			{"line", "ground", 3},
			{"line", "sheet", 3},
			{"focus", "ground", 3},
			{"focus", "sheet", 3},
		} {
			if got := contrast(t, colours[pair.ink], colours[pair.ground]); got < pair.least {
				t.Errorf("theme %d: %s on %s is %.2f, want %.1f", i, pair.ink, pair.ground, got, pair.least)
			}
		}
	}
}

func contrast(t *testing.T, a, b string) float64 {
	la, lb := luminance(t, a), luminance(t, b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	if len(colour) != 7 {
		t.Fatalf("no colour: %q", colour)
	}
	var parts [3]float64
	for i := range parts {
		n, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(n) / 255
		if c <= 0.04045 {
			parts[i] = c / 12.92
		} else {
			parts[i] = math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return 0.2126*parts[0] + 0.7152*parts[1] + 0.0722*parts[2]
}

// The address of the style sheet changes with its content.
func TestStyleURLNamesItsVersion(t *testing.T) {
	if !regexp.MustCompile(`^/portal/static/portal\.css\?v=[0-9a-f]{12}$`).MatchString(styleURL) {
		t.Error(styleURL)
	}
}

func TestTextsFillTheirVerbs(t *testing.T) {
	for text, args := range map[string][]any{
		english.LinkIntro: {"T"}, english.WrongDate: {3}, english.HomeGreeting: {"A"}, english.HomeIntro: {"T"},
		english.Since: {"x"}, english.StopText: {"T"}, english.VisitEnd: {"x"}, english.CheckHelp: {"T"}, english.WrongCode: {3},
		english.CodeSentAlready: {"x"}, english.CodeTooEarly: {"x"}, english.secondsMany: {3}, english.NoCheck.Body: {"T"}, english.CodeWait.Body: {"x"}, english.NoMoreCodes.Body: {"T"},
	} {
		if got := fmt.Sprintf(text, args...); strings.Contains(got, "%!") {
			t.Error(got)
		}
	}
}
