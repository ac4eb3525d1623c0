package api

import (
	"bytes"
	"mime"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/platform/fault"
	"hale/internal/wearables"
	"hale/internal/wearables/aggregate"
)

// accepts says whether an Accept header asks for the packed form: by its name,
// and no less than for JSON. Without the header, and for whatever takes both,
// the answer is JSON.
func accepts(header, packed string) (bool, error) {
	if header == "" {
		return false, nil
	}
	asked := preferences(header)
	json, archive := asked.of("application/json"), asked.of(packed)
	switch _, named := asked[packed]; {
	case archive > json, named && archive > 0 && archive == json:
		return true, nil
	case json <= 0:
		return false, fault.New(fault.Invalid, "Input should be one of: */*, application/json, "+packed).At("header", "accept").WithType("enum")
	}
	return false, nil
}

// preference is how much each media range of an Accept header is wanted, 0 to 1.
type preference map[string]float64

// preferences reads the ranges that can be understood; the last of two that are
// the same counts.
//
// RFC 9110, 12.5.1.
func preferences(header string) preference {
	all := preference{}
	for part := range strings.SplitSeq(header, ",") {
		media, parameters, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		weight := 1.0
		if q, given := parameters["q"]; given {
			if weight, err = strconv.ParseFloat(q, 64); err != nil || !(weight >= 0 && weight <= 1) {
				continue
			}
		}
		all[media] = weight
	}
	return all
}

// of is how much a media type is wanted: by the closest range that has it.
func (p preference) of(media string) float64 {
	family, _, _ := strings.Cut(media, "/")
	for _, name := range []string{media, family + "/*", "*/*"} {
		if weight, there := p[name]; there {
			return weight
		}
	}
	return 0
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
