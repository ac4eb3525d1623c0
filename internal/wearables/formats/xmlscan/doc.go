// Package xmlscan finds the tags of large XML documents in one pass, with a
// window of fixed size and without allocating.
//
// Its first use was health exports of many gigabytes, which encoding/xml reads
// twenty times slower. All readers of XML files use it. It is lenient about
// damage and strict about size. No document makes it keep more than its window.
// It never expands entities that a document defines.
//
//	scanner.go, tag.go  bytes to tags
//	values.go           attribute text to numbers and strings
//	walk.go             tags to nested elements
//	charset.go          other encodings to UTF-8
package xmlscan
