// Package export writes all wearable data of a user: samples, summaries and streams.
//
//	export.go reads the data as rows, page by page
//	table.go  rows as CSV and Parquet
//	fhir.go   rows as FHIR R4 Observations, one JSON object per line
//
// The memory does not depend on the amount of data: a page of samples and one row group of
// Parquet. Every page is read in a transaction of its own, so that an export of a large
// history holds no snapshot.
package export
