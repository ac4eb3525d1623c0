// Package xmlscan finds the tags of large XML documents in one pass, with a
// window of fixed size and without allocating.
//
// It was made for health exports of many gigabytes, which encoding/xml reads
// twenty times slower, and serves all readers of XML files beside it. It is
// lenient about damage and strict about size: no document makes it keep more
// than its window, and entities that a document defines are never expanded.
//
//	scanner.go, tag.go  bytes to tags
//	number.go           attribute text to numbers
//	entity.go           attribute text to strings
//	walk.go             tags to nested elements
//	charset.go          other encodings to UTF-8
package xmlscan
