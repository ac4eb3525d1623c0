package api

import (
	"io"
	"net/http"
	"time"
)

// longestPause is how long a body may pause.
const longestPause = 2 * time.Minute

// patient reads a body for as long as it keeps coming, however long that is,
// and keeps no time once it is there: a deadline that stayed on the connection
// would end the request's context while the request is carried out.
func patient(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = &patientBody{r.Body, http.NewResponseController(w)}
		}
		next.ServeHTTP(w, r)
	})
}

type patientBody struct {
	io.ReadCloser
	control *http.ResponseController
}

// Read moves the deadline. Servers in front of which something else keeps time
// may refuse that; it is their choice.
func (p *patientBody) Read(b []byte) (int, error) {
	_ = p.control.SetReadDeadline(time.Now().Add(longestPause))
	n, err := p.ReadCloser.Read(b)
	if err != nil {
		_ = p.control.SetReadDeadline(time.Time{})
	}
	return n, err
}
