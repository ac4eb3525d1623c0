package app

import (
	"hale/internal/labs/documents"
	"hale/internal/labs/orders"
	"hale/internal/platform/secrets"
)

// requisitionLinks makes the addresses in requisition_form_url, and reads them.
func (a *App) requisitionLinks(root *secrets.Root) *documents.Links {
	links := &documents.Links{Root: root, BaseURL: a.URL}
	orders.SignRequisitions(links.URL)
	return links
}
