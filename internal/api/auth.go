package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"hale/internal/secrets"
	"hale/internal/store"
	"hale/internal/teams"
)

// Caller is who sent a request: a team, by one of its keys.
type Caller struct {
	Team        teams.ID
	Key         teams.KeyID
	Environment teams.Environment
}

const (
	// keyTTL is how long a node may go on accepting a revoked key.
	keyTTL = 5 * time.Second
	// touchEvery bounds how often the last-used time is written.
	touchEvery = time.Minute
	// mostKeys bounds the cache.
	mostKeys = 10_000
)

// authenticate turns the key of a request into a Caller and scopes the
// context to its team. Missing, wrong and ended keys take the same way
// through the database, so that time tells nothing apart.
func (a *API) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := a.keyText(r)
		c, err := a.caller(r.Context(), text)
		switch {
		case errors.Is(err, teams.ErrNoKey) && text == "":
			writeDetail(w, http.StatusUnauthorized, "Missing "+a.KeyHeaders[0])
		case errors.Is(err, teams.ErrNoKey):
			writeDetail(w, http.StatusUnauthorized, "invalid token")
		case err != nil:
			writeError(w, a.refusal(r.Context(), err))
		default:
			noteTeam(r.Context(), c.Team.String())
			ctx := context.WithValue(store.WithTeam(r.Context(), c.Team.UUID()), callerKey{}, c)
			next.ServeHTTP(w, r.WithContext(ctx))
		}
	})
}

// keyText finds the key: one of the accepted headers, or a bearer token.
func (a *API) keyText(r *http.Request) string {
	for _, name := range a.KeyHeaders {
		if v := r.Header.Get(name); v != "" {
			return strings.TrimSpace(v)
		}
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "bearer") {
		return strings.TrimSpace(token)
	}
	return ""
}

func (a *API) caller(ctx context.Context, text string) (Caller, error) {
	hash := [32]byte(secrets.Hash(text))
	now := a.db.Now()
	cached, ok := a.keys.get(hash, now)
	if !ok {
		team, key, err := a.resolve(ctx, text)
		if err != nil {
			return Caller{}, err
		}
		cached = cachedKey{caller: Caller{team.ID, key.ID, team.Environment}, until: now.Add(keyTTL)}
		if key.ExpiresAt != nil && key.ExpiresAt.Before(cached.until) {
			cached.until = *key.ExpiresAt
		}
		a.keys.put(hash, cached)
	}
	a.touch(ctx, hash, cached.caller, now)
	return cached.caller, nil
}

func (a *API) resolve(ctx context.Context, text string) (team teams.Team, key teams.Key, err error) {
	err = a.db.Read(store.AsSystem(ctx), func(tx *store.Tx) error {
		team, key, err = teams.Resolve(ctx, tx, text)
		return err
	})
	return team, key, err
}

// touch writes the last-used time, at most once a minute for each key and
// without making the request wait.
func (a *API) touch(ctx context.Context, hash [32]byte, c Caller, now time.Time) {
	if !a.keys.due(hash, now) {
		return
	}
	ctx = store.AsSystem(context.WithoutCancel(ctx))
	a.background.Go(func() {
		err := a.db.Write(ctx, func(tx *store.Tx) error { return teams.Touch(ctx, tx, c.Team, c.Key) })
		if err != nil && !errors.Is(err, store.ErrClosed) {
			a.Log.WarnContext(ctx, "last use of a key not recorded", "error", err)
		}
	})
}

type cachedKey struct {
	caller Caller
	until  time.Time
}

// keyCache remembers good keys for keyTTL, by hash. Bad ones are not
// remembered: each takes the long way.
type keyCache struct {
	mu      sync.RWMutex
	keys    map[[32]byte]cachedKey
	touched map[[32]byte]time.Time
}

func newKeyCache() *keyCache {
	return &keyCache{keys: map[[32]byte]cachedKey{}, touched: map[[32]byte]time.Time{}}
}

func (c *keyCache) get(hash [32]byte, now time.Time) (cachedKey, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	k, ok := c.keys[hash]
	return k, ok && now.Before(k.until)
}

func (c *keyCache) put(hash [32]byte, k cachedKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.keys) >= mostKeys {
		clear(c.keys)
		clear(c.touched)
	}
	c.keys[hash] = k
}

// due reports that the last use should be written now, and notes it.
func (c *keyCache) due(hash [32]byte, now time.Time) bool {
	c.mu.RLock()
	last, ok := c.touched[hash]
	c.mu.RUnlock()
	if ok && now.Sub(last) < touchEvery {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if last, ok := c.touched[hash]; ok && now.Sub(last) < touchEvery {
		return false
	}
	c.touched[hash] = now
	return true
}
