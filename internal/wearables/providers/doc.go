// Package providers is the catalogue of wearable data providers: what each is
// called, how a person connects it and which resources it can deliver.
//
// The catalogue is one data file, catalogue.json, which is part of the binary.
// A provider is an app, a platform, a service or a phone's own health store
// (spec: Versioning, 4). Descriptions are ours; logos are monograms drawn here
// (providers.go), so that nothing is loaded from elsewhere and no trademark is
// copied.
//
// The folders below read what people upload, one format each, and hold what
// the readers share (files, sheet, replies and others). They are not known here.
package providers
