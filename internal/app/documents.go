package app

import (
	"hale/internal/documents"
	"hale/internal/orders"
	"hale/internal/secrets"
)

// requisitionLinks makes the addresses in requisition_form_url, and reads them.
func (a *App) requisitionLinks(root *secrets.Root) *documents.Links {
	links := &documents.Links{Root: root, BaseURL: a.URL}
	orders.SignRequisitions(links.URL)
	return links
}
