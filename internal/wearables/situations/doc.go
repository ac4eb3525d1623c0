// Package situations tests whole histories of people: pushes of phones, imports of
// exports and replies of makers, read through the API. It has tests only.
package situations
