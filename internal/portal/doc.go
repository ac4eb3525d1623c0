// Package portal serves the HTML pages that a person opens from a link that the
// team sent.
//
// The server renders every page. The pages work without script and load nothing
// from other hosts. A link is a secret in an address (users.PortalLink). Opening
// it changes nothing, because mail scanners open links too: it shows a page with
// a button. The button exchanges the link for a session cookie and leads to an
// address without the secret.
//
// A link that came by e-mail or SMS checks a new device first. The person enters
// a code that comes by SMS or e-mail. If the team accepts it, the date of birth
// is enough. The check is no second factor (NIST SP 800-63B-4).
//
//	portal.go   routes and what surrounds every page
//	links.go    from the link to a session
//	checks.go   codes and the date of birth on a new device
//	home.go     the first page of a signed-in person
//	orders.go   orders and visits
//	cookies.go  sessions and known devices in the browser
//	pages.go    templates and the fields of every page
//	text.go     all words, in English; another language is another file
package portal
