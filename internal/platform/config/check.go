package config

import (
	"errors"
	"net"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"hale/internal/platform/secrets"
)

// The checks name what is wrong and never repeat the value, which may be a
// secret that was put in the wrong place.

func checkSet(s string) error {
	if s == "" {
		return errors.New("must not be empty")
	}
	return nil
}

func checkAddress(addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return errors.New("must be host:port, such as 127.0.0.1:8080 or :8080")
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return errors.New("the port must be a number from 0 to 65535")
	}
	return nil
}

func checkOptionalAddress(addr string) error {
	if addr == "" {
		return nil
	}
	return checkAddress(addr)
}

func checkURL(text string, schemes ...string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || !slices.Contains(schemes, u.Scheme) || (u.Host == "" && u.RawQuery == "") {
		return errors.New("must be a URL that begins with " + strings.Join(schemes, ":// or ") + "://")
	}
	return nil
}

// checkOrigin takes an address at whose root the service is: links are made of
// it and a path of ours, and pages lead to each other by path.
func checkOrigin(text string) error {
	if err := checkURL(text, "http", "https"); text == "" || err != nil {
		return err
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || strings.ContainsAny(text, "?#") {
		return errors.New("must be an address alone, such as https://health.example: the service is at its root, under no path")
	}
	return nil
}

// headerNameMarks are the characters beside letters and digits that RFC 9110
// allows in a field name.
const headerNameMarks = "!#$%&'*+-.^_`|~"

func checkHeaderNames(names []string) error {
	if len(names) == 0 {
		return errors.New("needs at least one header name")
	}
	for _, name := range names {
		bad := strings.IndexFunc(name, func(r rune) bool {
			letter := r|0x20 >= 'a' && r|0x20 <= 'z'
			return r > 127 || !letter && (r < '0' || r > '9') && !strings.ContainsRune(headerNameMarks, r)
		})
		if name == "" || bad >= 0 {
			return errors.New("must be a header name, such as x-service-api-key")
		}
		if strings.EqualFold(name, "authorization") {
			return errors.New("must not be authorization: bearer keys are read from there anyway")
		}
	}
	return nil
}

func checkBurst(c *Config) error {
	if c.RateLimit > 0 && c.RateBurst < 1 {
		return errors.New("must be at least 1 when there is a rate limit")
	}
	return nil
}

func checkMailFrom(text string) error {
	if text == "" {
		return nil
	}
	if _, err := mail.ParseAddress(text); err != nil {
		return errors.New("must be an e-mail address, such as lab@example.org or Example Lab <lab@example.org>")
	}
	return nil
}

func checkRootKey(text string) error {
	if text == "" {
		return nil
	}
	if _, err := secrets.ParseRoot(text); err != nil {
		return errors.New("must be 32 bytes in base64, as `openssl rand -base64 32` prints them; several keys, newest first, take a line each")
	}
	return nil
}
