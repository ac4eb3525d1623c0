package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/people/tokens"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
)

// What a team asks for may be asked for again under one Idempotency-Key: the
// answer is sealed with the person's key, and its secret is as good as it was,
// for one exchange. What a phone exchanges has rules of its own.
func (a *API) tokenRoutes() []route {
	return []route{
		post("/v2/user/{user_id}/sign_in_token", a.createSignInToken, "Make a token with which a phone signs in as a user").creates(),
		del("/v2/user/{user_id}/sign_in_token", a.endSignIns, "Sign out every phone of a user"),
		post("/v2/link/code/create", a.createLinkCode, "Make a code with which a phone signs in as a user").creates(),
		post("/v2/link/exchange", a.exchangeSignIn, "Exchange a sign-in token or a link code for tokens of a phone").open().sensitive(),
		post("/v2/link/refresh", a.refreshTokens, "Renew the tokens of a phone").open().sensitive(),
		post("/v2/link/sign_out", a.signOut, "Sign a phone out").open().sensitive(),
	}
}

// signInTokenBody is the reference's UserSignInTokenResponse.
//
// Reference 5.9.
type signInTokenBody struct {
	UserID      users.ID `json:"user_id" format:"uuid"`
	SignInToken string   `json:"sign_in_token" doc:"A secret, for one exchange within ten minutes."`
}

func (a *API) createSignInToken(ctx context.Context, c Caller, in *UserPath) (*out[signInTokenBody], error) {
	return answering(ctx, a, func(tx *store.Tx) (signInTokenBody, error) {
		token, err := tokens.CreateSignIn(ctx, tx, c.Team, in.UserID)
		return signInTokenBody{in.UserID, token.Reveal()}, err
	})
}

func (a *API) endSignIns(ctx context.Context, c Caller, in *UserPath) (*out[successBody], error) {
	done, err := a.succeed(ctx, func(tx *store.Tx) error { return tokens.EndAll(ctx, tx, c.Team, in.UserID) })
	if err == nil {
		a.keys.drop(func(known Caller) bool { return known.User == in.UserID })
	}
	return done, err
}

type linkCodeIn struct {
	UserID    users.ID         `query:"user_id" required:"true" format:"uuid"`
	ExpiresAt Maybe[time.Time] `query:"expires_at" doc:"An hour from now when absent; within seven days."`
}

// linkCodeBody is a code and where an app takes it.
//
// Reference 6.9.
type linkCodeBody struct {
	Code        string `json:"code" pattern:"^(sk|pk)(eu|us)[0-9a-f]{8}$" doc:"For one exchange. Show it to the person; it is too short to be sent around."`
	ExchangeURL string `json:"exchange_url" doc:"Opens an app that has the scheme hale with the code, such as from a QR code."`
	ExpiresAt   Time   `json:"expires_at"`

	user users.ID
}

func (a *API) createLinkCode(ctx context.Context, c Caller, in *linkCodeIn) (*out[linkCodeBody], error) {
	return answering(ctx, a, func(tx *store.Tx) (linkCodeBody, error) {
		code, err := tokens.CreateCode(ctx, tx, c.Team, in.UserID, in.ExpiresAt.pointer())
		text := code.Text.Reveal()
		return linkCodeBody{text, "hale://link?code=" + text, Time(code.ExpiresOn), in.UserID}, err
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

func (a *API) exchangeSignIn(ctx context.Context, _ Caller, in *exchangeIn) (*out[tokensBody], error) {
	if (in.Body.SignInToken == "") == (in.Body.Code == "") {
		return nil, fault.New(fault.Invalid, "Value error, give either sign_in_token or code").At("body").WithType("value_error")
	}
	if in.Body.Code == "" {
		return a.exchange(ctx, tokens.SignInToken, secrets.Text(in.Body.SignInToken))
	}
	guess, err := a.guesses.take(in.address, a.db.Now())
	if err != nil {
		return nil, err
	}
	body, err := a.exchange(ctx, tokens.LinkCode, tokens.TypedCode(in.Body.Code))
	if !fault.Is(err, fault.Unauthenticated) {
		guess.giveBack()
	}
	return body, err
}

func (a *API) exchange(ctx context.Context, kind tokens.Kind, text secrets.Text) (*out[tokensBody], error) {
	ctx = store.AsSystem(ctx)
	var session tokens.Session
	err := a.db.Write(ctx, func(tx *store.Tx) (err error) {
		session, err = tokens.Exchange(ctx, tx, kind, text)
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(tokensOf(session)), nil
}

type refreshTokenIn struct {
	Body struct {
		RefreshToken string `json:"refresh_token" maxLength:"256"`
	}
}

func (a *API) refreshTokens(ctx context.Context, _ Caller, in *refreshTokenIn) (*out[tokensBody], error) {
	ctx = store.AsSystem(ctx)
	var session tokens.Session
	var ended bool
	err := a.db.Write(ctx, func(tx *store.Tx) (err error) {
		session, ended, err = tokens.Refresh(ctx, tx, secrets.Text(in.Body.RefreshToken))
		return err
	})
	if err == nil && ended {
		a.keys.drop(func(known Caller) bool { return known.Session == session.ID })
		err = tokens.ErrInvalid
	}
	if err != nil {
		return nil, err
	}
	return answer(tokensOf(session)), nil
}

// signOut ends the session of a refresh token. One that is over already is
// as good as signed out.
func (a *API) signOut(ctx context.Context, _ Caller, in *refreshTokenIn) (*out[successBody], error) {
	ctx = store.AsSystem(ctx)
	var session tokens.SessionID
	done, err := a.succeed(ctx, func(tx *store.Tx) (err error) {
		session, err = tokens.SignOut(ctx, tx, secrets.Text(in.Body.RefreshToken))
		return err
	})
	if err == nil && !session.IsZero() {
		a.keys.drop(func(known Caller) bool { return known.Session == session })
	}
	return done, err
}
