// Package portal is the door for people: pages that a person opens from a link
// that the team sent.
//
// The pages are rendered here, work without script and load nothing from other
// hosts. A link is a secret in an address (users.PortalLink). Opening it
// changes nothing, since mail scanners open links too: it shows a page with a
// button, the button exchanges the link for a session cookie, and the browser
// goes on to an address without the secret. A link that came by e-mail or SMS
// asks a device that is new for the date of birth. That is a check of the
// device and no second factor (NIST SP 800-63B-4).
//
//	portal.go   routes and what surrounds every page
//	links.go    from link to session
//	home.go     what a signed-in person sees
//	orders.go   their orders and visits
//	cookies.go  sessions and known devices in the browser
//	pages.go    templates and the fields every page has
//	text.go     all words, in English; another language is another file
//	labels.go   resources in plain words
package portal
