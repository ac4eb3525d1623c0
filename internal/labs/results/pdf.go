package results

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/google/uuid"
	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// PDF returns the lab's own document of a revision; 0 is the latest. Nil when
// the lab sent none, NotFound when there are no results.
func PDF(ctx context.Context, tx *store.Tx, o *orders.Order, number int) ([]byte, error) {
	_, document, err := get(ctx, tx, o, number)
	if err != nil || document == uuid.Nil {
		return nil, err
	}
	var body []byte
	err = tx.QueryRow(ctx, `SELECT body FROM lab_report_documents WHERE team_id = $1 AND report_id = $2`, o.Team, document).Scan(&body)
	if err != nil {
		return nil, fmt.Errorf("results: reading a document of %s: %w", o.ID, err)
	}
	return tx.Unseal(ctx, o.Team.UUID(), o.User.UUID(), documentPlace+document.String(), body)
}

// pdfSettings returns the settings of the PDF library. Callers copy them.
var pdfSettings = sync.OnceValue(func() *model.Configuration {
	api.DisableConfigDir() // otherwise the library writes into the home folder
	return model.NewDefaultConfiguration()
})

// MergePDFs makes one document of several. One that no reader could open is
// refused.
func MergePDFs(documents [][]byte) ([]byte, error) {
	if len(documents) == 1 {
		return documents[0], nil
	}
	in := make([]io.ReadSeeker, len(documents))
	for i, d := range documents {
		in[i] = bytes.NewReader(d)
	}
	settings := *pdfSettings()
	var out bytes.Buffer
	if err := api.MergeRaw(in, &out, false, &settings); err != nil {
		return nil, fault.New(fault.Conflict, "The documents of this transaction cannot be put together; get them order by order")
	}
	return out.Bytes(), nil
}
