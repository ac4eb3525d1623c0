package person

import (
	"strings"
)

// Email checks the syntax of an address as mail servers accept it in practice. The
// local part has at most 64 characters without spaces, and the domain has at least
// two labels. The domain is lower-cased. Email refuses quoted local parts and bare
// IP addresses, which RFC 5321 allows but people do not use.
func (f Form) Email(field, text string) string {
	text = f.Text(field, text, maxEmail)
	at := strings.LastIndexByte(text, '@')
	if text != "" && (at < 1 || !isLocalPart(text[:at]) || !isDomain(text[at+1:])) {
		f.value(field, "not an e-mail address")
		return text
	}
	if at < 0 {
		return text
	}
	return text[:at+1] + strings.ToLower(text[at+1:])
}

func isLocalPart(s string) bool {
	if len(s) > 64 || strings.HasPrefix(s, ".") || strings.HasSuffix(s, ".") || strings.Contains(s, "..") {
		return false
	}
	for _, r := range s {
		if r < 0x80 && !isAlphanumeric(byte(r)) && !strings.ContainsRune(".!#$%&'*+/=?^_`{|}~-", r) || isControl(r) {
			return false
		}
	}
	return true
}

func isDomain(s string) bool {
	labels := strings.Split(s, ".")
	if len(s) > 253 || len(labels) < 2 {
		return false
	}
	for _, label := range labels {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			if c := label[i]; !isAlphanumeric(c) && c != '-' && c < 0x80 {
				return false
			}
		}
	}
	top := labels[len(labels)-1]
	return len(top) >= 2 && !strings.ContainsAny(top, "0123456789") || strings.HasPrefix(top, "xn--")
}

// Phone brings a telephone number into E.164 form, +14155550132. Numbers
// without a country code are read as North American. It checks the length only: the
// digits do not show whether a number is in service.
//
// Reference 1.9, telephone rule.
func (f Form) Phone(field, text string) string {
	text = f.Text(field, text, maxPhone)
	if text == "" {
		return text
	}
	number, ok := e164(text)
	if !ok {
		f.value(field, "Invalid phone number")
		return text
	}
	return number
}

func e164(text string) (string, bool) {
	text, international := strings.CutPrefix(text, "+")
	digits := make([]byte, 0, len(text))
	for i := range len(text) {
		switch c := text[i]; {
		case '0' <= c && c <= '9':
			digits = append(digits, c)
		case strings.IndexByte(" -./()", c) < 0:
			return "", false
		}
	}
	n := string(digits)
	if rest, ok := strings.CutPrefix(n, "00"); ok && !international {
		n, international = rest, true
	}
	switch {
	case international && strings.HasPrefix(n, "1"):
		return "+" + n, len(n) == 11
	case international:
		return "+" + n, len(n) >= 8 && len(n) <= 15 && n[0] != '0'
	case len(n) == 10 && n[0] != '0':
		return "+1" + n, true
	case len(n) == 11 && n[0] == '1':
		return "+" + n, true
	}
	return "", false
}
