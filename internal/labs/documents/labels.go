package documents

import (
	"fmt"
	"time"

	"codeberg.org/go-pdf/fpdf"
)

// The measures of a label: 2.25 by 1.25 inches, in points.
const (
	labelWidth  = 162.0
	labelHeight = 90.0
	labelEdge   = 6.0
)

// SandboxAccount is the account number on labels of the sandbox.
//
// Reference 1.15.
const SandboxAccount = "1234567890"

// Labels are to be stuck on the tubes, one on each page. collected is printed
// in the zone that it came in.
//
// Reference 1.14.
func (s *Subject) Labels(count int, collected time.Time) ([]byte, error) {
	if s.Order.SampleID == "" || s.Order.Body.Patient == nil {
		return nil, missing("Labels not found")
	}
	p := blank("Sample labels", fpdf.SizeType{Wd: labelWidth, Ht: labelHeight}, s.placedAt())
	account := s.Full.Account.Number
	if s.Full.Sandbox {
		account = SandboxAccount
	}
	for n := range count {
		p.next()
		s.label(p, account, collected, fmt.Sprintf("%d/%d", n+1, count))
	}
	return p.bytes()
}

func (s *Subject) label(p *sheet, account string, collected time.Time, number string) {
	const width = labelWidth - 2*labelEdge
	name := printable(lastFirst(s.Full.Patient))
	size := 10.0
	for size > 6.5 && p.width(size, "B", name) > width {
		size -= 0.5
	}
	name.letters = p.cut(name, size, "B", width)
	p.put(labelEdge, 15, size, "B", name)
	p.labelLine(25, fmt.Sprintf("DOB %s   Sex %s", birth(s.Full.Patient), words(s.Full.Patient.Gender)), number)
	p.labelLine(34, "Collected "+collected.Format("01/02/2006 15:04"), "")
	p.labelLine(43, "Acct "+account+"   "+s.Facts.Lab.Name, "")
	p.linear(s.Order.SampleID, 1, 48, labelWidth-2, 28)
	id := printable(s.Order.SampleID)
	id.letters = p.cut(id, 8, "B", width)
	p.put((labelWidth-p.width(8, "B", id))/2, 85, 8, "B", id)
}

// labelLine writes a line with something at its right end.
func (s *sheet) labelLine(y float64, words, right string) {
	const width, size = labelWidth - 2*labelEdge, 7.0
	end := printable(right)
	room := width
	if right != "" {
		w := s.width(size, "", end)
		s.put(labelEdge+width-w, y, size, "", end)
		room -= w + 4
	}
	t := printable(words)
	t.letters = s.cut(t, size, "", room)
	s.put(labelEdge, y, size, "", t)
}
