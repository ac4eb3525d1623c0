package app

import "github.com/go-chi/chi/v5"

// mount adds the doors that are not JSON.
func (a *App) mount(chi.Router) error { return nil }
