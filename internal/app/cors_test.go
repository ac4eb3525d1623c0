package app_test

import (
	"strings"
	"testing"

	"hale/internal/app/apptest"
	"hale/internal/platform/config"
	"hale/internal/platform/store/storetest"
)

// The pages of the service are not for pages of other origins, however their addresses
// are written. Unknown addresses are, and the operations.
func TestPagesAreNotForOtherOrigins(t *testing.T) {
	const origin = "https://app.example"
	a := apptest.Start(t, storetest.NewSQLite(t), func(c *config.Config) { c.CORSOrigins = []string{origin} })
	for _, path := range []string{
		"/", "//", "/docs", "/docs/", "/docs/guides", "/docs/guides/events", "/docs/guides/a%2Fb", "/docs/operations/createUser", "/docs/search?q=user", "/docs/nowhere",
		"/docs/static/docs.css", "/docs/examples/mirror.py", "/openapi.json", "/openapi.yaml", "/portal", "/portal/enter/x", "/portal/enter/a%2Fb",
	} {
		for _, method := range []string{"GET", "HEAD", "PUT", "POST", "OPTIONS"} {
			for _, wanted := range []string{"GET", "PUT"} {
				answer := a.Do(method, path, "", "Origin", origin, "Access-Control-Request-Method", wanted)
				_ = answer.Body.Close()
				for name := range answer.Header {
					if strings.HasPrefix(name, "Access-Control-") {
						t.Errorf("%s %s: %d %v", method, path, answer.StatusCode, answer.Header)
					}
				}
			}
		}
	}
	for _, path := range []string{"/nowhere", "/v2/user", "/v2/nowhere"} {
		for _, method := range []string{"GET", "PUT", "OPTIONS"} {
			answer := a.Do(method, path, "", "Origin", origin, "Access-Control-Request-Method", "PUT")
			_ = answer.Body.Close()
			if answer.Header.Get("Access-Control-Allow-Origin") != origin {
				t.Errorf("%s %s: %d %v", method, path, answer.StatusCode, answer.Header)
			}
		}
	}
}
