// Package pages reads uploaded lab reports: the words of PDF files and images
// with their places on the page, and images of the pages. It calls package
// extract with the words.
//
// It is meant for a child process with limits, because it parses files from
// strangers.
package pages
