package config

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"hale/internal/platform/secrets"
)

// Bytes is a size. It parses 512, 64KiB, 1.5MiB or 2GB, and prints as a whole number of
// the largest binary unit that fits.
type Bytes int64

var units = []struct {
	name string
	size int64
}{
	{"TiB", 1 << 40},
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"KiB", 1 << 10},
	{"TB", 1e12},
	{"GB", 1e9},
	{"MB", 1e6},
	{"KB", 1e3},
	{"B", 1},
}

// ParseBytes parses a size. Units of 1024 end in iB, units of 1000 in B.
func ParseBytes(text string) (Bytes, error) {
	number, factor := strings.TrimSpace(text), int64(1)
	for _, unit := range units {
		if cut, ok := cutSuffixFold(number, unit.name); ok {
			number, factor = strings.TrimSpace(cut), unit.size
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	size := n * float64(factor)
	if err != nil || math.IsNaN(n) || n < 0 || size >= math.MaxInt64 {
		return 0, errors.New("must be a size, such as 512KiB or 16MiB")
	}
	return Bytes(size), nil
}

func cutSuffixFold(s, suffix string) (string, bool) {
	if cut := len(s) - len(suffix); cut >= 0 && strings.EqualFold(s[cut:], suffix) {
		return s[:cut], true
	}
	return s, false
}

func (b Bytes) String() string {
	for _, unit := range units[:4] {
		if b != 0 && int64(b)%unit.size == 0 {
			return strconv.FormatInt(int64(b)/unit.size, 10) + unit.name
		}
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}

// ParseDuration parses a duration like time.ParseDuration. It also accepts days, with or
// without a fraction: 30d, 1.5d.
func ParseDuration(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		span := n * float64(24*time.Hour)
		if err != nil || math.IsNaN(n) || math.Abs(span) >= math.MaxInt64 {
			return 0, errDuration
		}
		return time.Duration(span), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, errDuration
	}
	return d, nil
}

var errDuration = errors.New("must be a time span, such as 90s, 25m, 24h or 30d")

func formatDuration(d time.Duration) string {
	if day := 24 * time.Hour; d >= day && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	return d.String()
}

// assign parses texts into a field of Config. Only lists accept several texts. A
// duration or size of 0 is an error unless zeroOK is set.
func assign(field any, texts []string, zeroOK bool) error {
	if list, ok := field.(*[]string); ok {
		*list = nil
		for _, text := range texts {
			*list = append(*list, strings.TrimSpace(text))
		}
		return nil
	}
	if len(texts) != 1 {
		return errors.New("needs one value")
	}
	text := strings.TrimSpace(texts[0])
	var err error
	switch f := field.(type) {
	case *string:
		*f = text
	case *secrets.Text:
		*f = secrets.Text(text)
	case *bool:
		*f, err = parseSwitch(text)
	case *int:
		*f, err = strconv.Atoi(text)
		if err != nil || *f < 0 {
			err = errors.New("must be a whole number from 0")
		}
	case *float64:
		*f, err = strconv.ParseFloat(text, 64)
		if err != nil || !(*f >= 0) || math.IsInf(*f, 1) {
			err = errors.New("must be a number from 0")
		}
	case *time.Duration:
		*f, err = ParseDuration(text)
		if err == nil && (*f < 0 || *f == 0 && !zeroOK) {
			err = errors.New("must be longer than 0")
		}
	case *Bytes:
		*f, err = ParseBytes(text)
		if err == nil && *f == 0 && !zeroOK {
			err = errors.New("must be larger than 0")
		}
	default:
		panic(fmt.Sprintf("config: cannot read a %T", field))
	}
	return err
}

// ParseNetworks parses addresses and networks, such as 10.0.0.1 and 10.0.0.0/8.
func ParseNetworks(texts []string) (networks []netip.Prefix, err error) {
	for _, text := range texts {
		if text == "" {
			continue
		}
		network, err := netip.ParsePrefix(text)
		if err != nil {
			var address netip.Addr
			if address, err = netip.ParseAddr(text); err != nil {
				return nil, errors.New("must be addresses or networks, such as 10.0.0.1 or 10.0.0.0/8")
			}
			network = netip.PrefixFrom(address, address.BitLen())
		}
		networks = append(networks, network.Masked())
	}
	return networks, nil
}

func parseSwitch(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "true", "on", "yes", "1":
		return true, nil
	case "false", "off", "no", "0":
		return false, nil
	}
	return false, errors.New("must be true or false")
}

// format returns the text of a field in the form that assign parses.
func format(field any) string {
	switch f := field.(type) {
	case *string:
		return *f
	case *secrets.Text:
		return f.Reveal()
	case *[]string:
		return strings.Join(*f, ",")
	case *time.Duration:
		return formatDuration(*f)
	case *bool:
		return strconv.FormatBool(*f)
	case *int:
		return strconv.Itoa(*f)
	case *float64:
		return strconv.FormatFloat(*f, 'f', -1, 64)
	case *Bytes:
		return f.String()
	}
	panic(fmt.Sprintf("config: cannot print a %T", field))
}
