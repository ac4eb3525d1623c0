package people

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"hale/internal/api"
	"hale/internal/people/tokens"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
)

// What a team asks for may be asked for again under one Idempotency-Key: the
// answer is sealed with the person's key, and its secret is as good as it was,
// for one exchange. What a phone exchanges has rules of its own.
func (h *Handlers) tokenRoutes() []api.Route {
	return []api.Route{
		api.Post("/v2/user/{user_id}/sign_in_token", h.createSignInToken, "Make a token with which a phone signs in as a user").Creates(),
		api.Delete("/v2/user/{user_id}/sign_in_token", h.endSignIns, "Sign out every phone of a user"),
		api.Post("/v2/link/code/create", h.createLinkCode, "Make a code with which a phone signs in as a user").Creates(),
		api.Post("/v2/link/exchange", h.exchangeSignIn, "Exchange a sign-in token or a link code for tokens of a phone").Open().Sensitive(),
		api.Post("/v2/link/refresh", h.refreshTokens, "Renew the tokens of a phone").Open().Sensitive(),
		api.Post("/v2/link/sign_out", h.signOut, "Sign a phone out").Open().Sensitive(),
	}
}

// signInTokenBody is the reference's UserSignInTokenResponse.
//
// Reference 5.9.
type signInTokenBody struct {
	UserID      users.ID `json:"user_id" format:"uuid"`
	SignInToken string   `json:"sign_in_token" doc:"A secret, for one exchange within ten minutes."`
}

func (h *Handlers) createSignInToken(ctx context.Context, c api.Caller, in *api.UserPath) (*api.Out[signInTokenBody], error) {
	return api.Commit(ctx, h.API, func(tx *store.Tx) (signInTokenBody, error) {
		token, err := tokens.CreateSignIn(ctx, tx, c.Team, in.UserID)
		return signInTokenBody{in.UserID, token.Reveal()}, err
	})
}

func (h *Handlers) endSignIns(ctx context.Context, c api.Caller, in *api.UserPath) (*api.Out[api.SuccessBody], error) {
	done, err := h.CommitSuccess(ctx, func(tx *store.Tx) error { return tokens.SignOutAll(ctx, tx, c.Team, in.UserID) })
	if err == nil {
		h.ForgetCallers(func(known api.Caller) bool { return known.User == in.UserID })
	}
	return done, err
}

type linkCodeIn struct {
	UserID    users.ID             `query:"user_id" required:"true" format:"uuid"`
	ExpiresAt api.Maybe[time.Time] `query:"expires_at" doc:"An hour from now when absent; within seven days."`
}

// linkCodeBody is a code and where an app takes it.
//
// Reference 6.9.
type linkCodeBody struct {
	Code        string   `json:"code" pattern:"^(sk|pk)(eu|us)[0-9a-f]{8}$" doc:"For one exchange. Show it to the person; it is too short to be sent around."`
	ExchangeURL string   `json:"exchange_url" doc:"Opens an app that has the scheme hale with the code, such as from a QR code."`
	ExpiresAt   api.Time `json:"expires_at"`

	user users.ID
}

func (h *Handlers) createLinkCode(ctx context.Context, c api.Caller, in *linkCodeIn) (*api.Out[linkCodeBody], error) {
	return api.Commit(ctx, h.API, func(tx *store.Tx) (linkCodeBody, error) {
		code, err := tokens.CreateCode(ctx, tx, c.Team, in.UserID, in.ExpiresAt.Pointer())
		text := code.Text.Reveal()
		return linkCodeBody{text, "hale://link?code=" + text, api.Time(code.ExpiresOn), in.UserID}, err
	})
}

type exchangeIn struct {
	Body struct {
		SignInToken string `json:"sign_in_token,omitempty" maxLength:"256" doc:"Either this or code."`
		Code        string `json:"code,omitempty" maxLength:"256" doc:"A link code, in capitals or not."`
	}
	address string
}

// Resolve notes where the request comes from, for the ration of guesses.
func (in *exchangeIn) Resolve(ctx huma.Context) []error {
	in.address = ctx.RemoteAddr()
	return nil
}

// tokensBody is a pair of tokens, named as OAuth 2 names them.
type tokensBody struct {
	UserID       users.ID `json:"user_id" format:"uuid" doc:"The one user that the tokens stand for."`
	AccessToken  string   `json:"access_token" doc:"A secret. Send it as Authorization: Bearer."`
	TokenType    string   `json:"token_type" enum:"Bearer"`
	ExpiresIn    int64    `json:"expires_in" doc:"Seconds that the access token is good for."`
	RefreshToken string   `json:"refresh_token" doc:"A secret, for one renewal. An answer that got lost may be asked for again within an hour, and names the same refresh token."`
}

func tokensOf(s tokens.Session) tokensBody {
	return tokensBody{s.User, s.Access.Reveal(), "Bearer", int64(tokens.AccessLife.Seconds()), s.Refresh.Reveal()}
}

func (h *Handlers) exchangeSignIn(ctx context.Context, _ api.Caller, in *exchangeIn) (*api.Out[tokensBody], error) {
	if (in.Body.SignInToken == "") == (in.Body.Code == "") {
		return nil, fault.New(fault.Invalid, "Value error, give either sign_in_token or code").At("body").WithType("value_error")
	}
	if in.Body.Code == "" {
		return h.exchange(ctx, tokens.SignInToken, secrets.Text(in.Body.SignInToken))
	}
	guess, err := h.guesses.take(in.address, h.DB.Now())
	if err != nil {
		return nil, err
	}
	body, err := h.exchange(ctx, tokens.LinkCode, tokens.NormalizeCode(in.Body.Code))
	if !fault.Is(err, fault.Unauthenticated) {
		guess.giveBack()
	}
	return body, err
}

func (h *Handlers) exchange(ctx context.Context, kind tokens.Kind, text secrets.Text) (*api.Out[tokensBody], error) {
	ctx = store.AsSystem(ctx)
	var session tokens.Session
	err := h.DB.Write(ctx, func(tx *store.Tx) (err error) {
		session, err = tokens.Exchange(ctx, tx, kind, text)
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(tokensOf(session)), nil
}

type refreshTokenIn struct {
	Body struct {
		RefreshToken string `json:"refresh_token" maxLength:"256"`
	}
}

func (h *Handlers) refreshTokens(ctx context.Context, _ api.Caller, in *refreshTokenIn) (*api.Out[tokensBody], error) {
	ctx = store.AsSystem(ctx)
	var session tokens.Session
	var ended bool
	err := h.DB.Write(ctx, func(tx *store.Tx) (err error) {
		session, ended, err = tokens.Refresh(ctx, tx, secrets.Text(in.Body.RefreshToken))
		return err
	})
	if err == nil && ended {
		h.ForgetCallers(func(known api.Caller) bool { return known.Session == session.ID })
		err = tokens.ErrInvalid
	}
	if err != nil {
		return nil, err
	}
	return api.Answer(tokensOf(session)), nil
}

// signOut ends the session of a refresh token. One that is over already is
// as good as signed out.
func (h *Handlers) signOut(ctx context.Context, _ api.Caller, in *refreshTokenIn) (*api.Out[api.SuccessBody], error) {
	ctx = store.AsSystem(ctx)
	var session tokens.SessionID
	done, err := h.CommitSuccess(ctx, func(tx *store.Tx) (err error) {
		session, err = tokens.SignOut(ctx, tx, secrets.Text(in.Body.RefreshToken))
		return err
	})
	if err == nil && !session.IsZero() {
		h.ForgetCallers(func(known api.Caller) bool { return known.Session == session })
	}
	return done, err
}

// Subject returns the user whose key seals a kept answer.
func (b linkCodeBody) Subject() uuid.UUID { return b.user.UUID() }

// A link code has 32 bits. What keeps it from being guessed is that wrong
// guesses are few: ten in ten minutes from one address, thirty in a minute
// from everywhere, on each node. With a hundred codes open all the time, any
// number of addresses together need more than two years on average.
const (
	guessesFromOne  = 10
	guessesFromAll  = 30
	mostGuessers    = 10_000
	guessFromOneIn  = time.Minute
	guessFromAllIn  = 2 * time.Second
	guessesTooOften = "Too many wrong codes; try again later"
)

// guessRation counts wrong guesses. A right one costs nothing.
type guessRation struct {
	mu        sync.Mutex
	everyone  *rate.Limiter
	addresses map[string]*rate.Limiter
}

func newGuessRation() *guessRation {
	return &guessRation{
		everyone:  rate.NewLimiter(rate.Every(guessFromAllIn), guessesFromAll),
		addresses: map[string]*rate.Limiter{},
	}
}

// guess is one that was taken from the ration and not judged yet.
type guess struct {
	at    time.Time
	taken []*rate.Reservation
}

// giveBack undoes the guess: it was right, or nobody looked at it.
func (g *guess) giveBack() {
	for _, r := range g.taken {
		r.CancelAt(g.at)
	}
}

// take counts a guess before it is judged, so that many at once cannot pass
// the ration together.
func (g *guessRation) take(address string, now time.Time) (*guess, error) {
	taken := &guess{at: now}
	for _, l := range []*rate.Limiter{g.of(address), g.everyone} {
		r := l.ReserveN(now, 1)
		if wait := r.DelayFrom(now); wait > 0 {
			r.CancelAt(now)
			taken.giveBack()
			return nil, &tooManyGuessesError{wait}
		}
		taken.taken = append(taken.taken, r)
	}
	return taken, nil
}

// guesser is who has a ration: an IPv4 address, or the network of an IPv6 one,
// of which a single machine has 2^64.
func guesser(address string) string {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return address
	}
	host := at.Addr().Unmap().WithZone("")
	if host.Is4() {
		return host.String()
	}
	return netip.PrefixFrom(host, 64).Masked().String()
}

func (g *guessRation) of(address string) *rate.Limiter {
	host := guesser(address)
	g.mu.Lock()
	defer g.mu.Unlock()
	l, ok := g.addresses[host]
	if !ok {
		if len(g.addresses) >= mostGuessers {
			clear(g.addresses) // everyone's ration still holds
		}
		l = rate.NewLimiter(rate.Every(guessFromOneIn), guessesFromOne)
		g.addresses[host] = l
	}
	return l
}

// tooManyGuessesError says when the next guess may be made.
type tooManyGuessesError struct{ wait time.Duration }

func (e *tooManyGuessesError) Error() string { return guessesTooOften }

// Kind is TooMany.
func (e *tooManyGuessesError) Kind() fault.Kind { return fault.TooMany }

// RetryAfter is in seconds, rounded up.
func (e *tooManyGuessesError) RetryAfter() int { return int((e.wait + time.Second - 1) / time.Second) }
