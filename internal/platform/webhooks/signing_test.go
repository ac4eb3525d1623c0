package webhooks_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"pgregory.net/rapid"

	"hale/internal/platform/webhooks"
)

// The test vector of the Standard Webhooks libraries.
func TestSignatureVector(t *testing.T) {
	secret, err := webhooks.ParseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	signer := webhooks.NewSigner([]webhooks.ValidSecret{{Secret: secret}})
	timestamp, signature := signer.Sign("msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if timestamp != "1614265330" {
		t.Errorf("timestamp %s", timestamp)
	}
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; signature != want {
		t.Errorf("signature %s, want %s", signature, want)
	}
}

// The library for receivers accepts a signature with each valid secret, and with no
// other.
func TestReceiversLibraryVerifies(t *testing.T) {
	now := time.Now()
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOf(rapid.Byte()).Draw(t, "body")
		valid := make([]webhooks.ValidSecret, rapid.IntRange(1, 4).Draw(t, "secrets"))
		for i := range valid {
			valid[i].Secret = webhooks.NewSecret()
			if i > 0 {
				valid[i].Expires = now.Add(time.Hour)
			}
		}
		ended := webhooks.ValidSecret{Secret: webhooks.NewSecret(), Expires: now}
		signer := webhooks.NewSigner(append(valid, ended))
		for range 2 { // a signer is used again and again
			timestamp, signature := signer.Sign("msg_1", now, body)
			header := http.Header{"Webhook-Id": {"msg_1"}, "Webhook-Timestamp": {timestamp}, "Webhook-Signature": {signature}}
			for i, v := range valid {
				if err := verify(v.Secret, header, body); err != nil {
					t.Fatalf("secret %d of %d: %v", i, len(valid), err)
				}
			}
			if verify(ended.Secret, header, body) == nil {
				t.Fatal("an ended secret still signs")
			}
			if verify(webhooks.NewSecret(), header, body) == nil {
				t.Fatal("a foreign secret verifies")
			}
		}
	})
}

func verify(s webhooks.Secret, header http.Header, body []byte) error {
	hook, err := standardwebhooks.NewWebhook(s.Reveal())
	if err != nil {
		return err
	}
	return hook.Verify(body, header)
}

func TestSecretsStayHidden(t *testing.T) {
	s := webhooks.NewSecret()
	for _, text := range []string{s.String(), s.GoString()} {
		if strings.Contains(text, s.Reveal()) || text != "[withheld]" {
			t.Errorf("prints %q", text)
		}
	}
	again, err := webhooks.ParseSecret(s.Reveal())
	if err != nil || again.Reveal() != s.Reveal() {
		t.Errorf("the text form does not come back: %v", err)
	}
}

func FuzzParseSecret(f *testing.F) {
	f.Add("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	f.Add("whsec_")
	f.Add("whsec_MfKQ9r8GKYqrTwjU\rPD8ILPZIo2LaLaSw")
	f.Add("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := webhooks.ParseSecret(text)
		if err != nil {
			if len(text) > 8 && strings.Contains(err.Error(), text) {
				t.Errorf("the refusal repeats the secret")
			}
			return
		}
		if s.Reveal() != text {
			t.Errorf("%q came back as %q", text, s.Reveal())
		}
		if _, err := standardwebhooks.NewWebhook(text); err != nil {
			t.Errorf("receivers could not use %q: %v", text, err)
		}
	})
}

func TestSigningDoesNotTouchTheBody(t *testing.T) {
	body := bytes.Repeat([]byte("x"), 1000)
	webhooks.NewSigner([]webhooks.ValidSecret{{Secret: webhooks.NewSecret()}}).Sign("msg_1", time.Now(), body)
	if !bytes.Equal(body, bytes.Repeat([]byte("x"), 1000)) {
		t.Error("the body changed")
	}
}
