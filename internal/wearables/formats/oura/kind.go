package oura

import (
	"hale/internal/wearables"
	"hale/internal/wearables/formats/replies"
)

// Provider is the catalogue's name for Oura.
const Provider = "oura"

var maker = replies.Maker{Kind: "oura", Title: "Oura JSON", Provider: Provider, Lists: listNames, Open: open}

// Kind is a file of Oura's documents.
var Kind = maker.Files()

// Sources: the ring measured a value, or its wearer entered the value in the
// app.
var (
	ring = wearables.Source{Provider: Provider, Type: "ring"}
	app  = wearables.Source{Provider: Provider, Type: "app"}
)

// reader takes Oura's documents of one file.
type reader struct{ *replies.Reader }
