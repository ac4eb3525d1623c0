package api

import (
	"bytes"
	"mime"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/aggregate"
	"hale/internal/fault"
	"hale/internal/wearables"
)

// accepts says whether an Accept header asks for the packed form. Without the
// header, and for whatever takes JSON, the answer is JSON.
func accepts(header, packed string) (bool, error) {
	if header == "" {
		return false, nil
	}
	json := false
	for part := range strings.SplitSeq(header, ",") {
		media, _, err := mime.ParseMediaType(part)
		switch {
		case err != nil:
		case media == packed:
			return true, nil
		case media == "application/json", media == "application/*", media == "*/*":
			json = true
		}
	}
	if !json {
		return false, fault.New(fault.Invalid, "Input should be one of: */*, application/json, "+packed).At("header", "accept").WithType("enum")
	}
	return false, nil
}

// writeResults sends JSON while it is made of the columns.
func writeResults(tables []*aggregate.Table) *written {
	return flowing(func(dst []byte, spill wearables.Spill) []byte {
		dst = append(dst, `{"results":[`...)
		for i, t := range tables {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(t.AppendJSON(append(dst, `{"table":`...), spill), '}')
		}
		return append(dst, `]}`...)
	})
}

func writeResult(t *aggregate.Table) *written {
	return flowing(func(dst []byte, spill wearables.Spill) []byte {
		return append(t.AppendJSON(append(dst, `{"table":`...), spill), '}')
	})
}

func writeArchive(tables []*aggregate.Table, at time.Time) (*written, error) {
	var body bytes.Buffer
	if err := aggregate.WriteArchive(&body, tables, at); err != nil {
		return nil, err
	}
	return sendAs(archiveType, body.Bytes()), nil
}

func writeParquet(t *aggregate.Table) (*written, error) {
	var body bytes.Buffer
	if err := t.WriteParquet(&body); err != nil {
		return nil, err
	}
	return sendAs(parquetType, body.Bytes()), nil
}

func sendAs(media string, body []byte) *written {
	return &written{func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", media)
		_, _ = ctx.BodyWriter().Write(body) // a caller that hung up is nobody to tell
	}}
}

// aggregationBody is the answer of a batch of queries.
type aggregationBody struct {
	Results []resultBody `json:"results" doc:"One for each query."`
}

type resultBody struct {
	Table map[string][]any `json:"table" doc:"Columns of equal length, by name. Moments are floating: what the clock on the person's wall showed."`
}
