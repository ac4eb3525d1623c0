package documents

import (
	"context"
	"slices"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Sheet is what somebody must know to give a sample for a lab test.
type Sheet struct {
	Test    catalogue.Test
	Lab     catalogue.Lab
	Samples []catalogue.SampleType
}

// InstructionsOf reads what is needed for the instructions of a lab test, or
// returns a NotFound fault.
func InstructionsOf(ctx context.Context, tx *store.Tx, team teams.ID, id catalogue.TestID) (*Sheet, error) {
	test, err := catalogue.GetTest(ctx, tx, team, id)
	if err != nil {
		return nil, err
	}
	offered, err := catalogue.For(ctx, tx, team)
	if err != nil {
		return nil, err
	}
	s := &Sheet{Test: test, Samples: []catalogue.SampleType{test.SampleType}}
	s.Lab, _ = offered.Lab(test.Lab)
	for _, m := range offered.MarkersOf(test) {
		if !slices.Contains(s.Samples, m.Sample) {
			s.Samples = append(s.Samples, m.Sample)
		}
	}
	return s, nil
}

// Render makes the instructions of the lab test.
//
// Reference 1.14, 1.16.
func (s *Sheet) Render() ([]byte, error) {
	return s.render("Lab test "+s.Test.ID.String(), s.Test.UpdatedAt, nil)
}

// Instructions are those of the order's lab test, with the number that must
// stand on the sample. They name nobody: they lie in a box that others open.
//
// Reference 1.14.
func (s *Subject) Instructions() ([]byte, error) {
	how := &Sheet{Test: s.Facts.Test, Lab: s.Facts.Lab, Samples: s.samples()}
	return how.render(s.foot(), s.placedAt(), func(p *sheet) {
		if s.Order.SampleID != "" {
			p.fields(1, field{"Control number of this order", s.Order.SampleID})
		}
	})
}

func (s *Sheet) render(foot string, made time.Time, own func(p *sheet)) ([]byte, error) {
	p := newSheet("Collection instructions", foot, made)
	p.put(margin, p.y+14, 15, "B", printable("HOW TO GIVE YOUR SAMPLE"))
	p.y += 20
	p.fields(3, field{"Test", s.Test.Name}, field{"Laboratory", s.Lab.Name}, field{"Collection", words(s.Test.Method)})
	if own != nil {
		own(p)
	}
	p.heading("Before")
	before := beforeOf[s.Test.Method]
	if s.Test.Fasting {
		before = append([]string{"Do not eat for 8 to 12 hours before. Drink water, and nothing else. Take medicines as usual unless your physician says otherwise."}, before...)
	}
	p.list(before)
	for _, sample := range s.Samples {
		steps, known := stepsOf[stepsKey{self(s.Test.Method), sample}]
		if !known {
			continue
		}
		p.heading(words(sample))
		p.list(steps)
	}
	p.heading("After")
	p.list(afterOf[s.Test.Method])
	p.heading("When something goes wrong")
	p.paragraph("Stop and ask whoever ordered the test before you send or hand in a sample of which you are not sure: too little, spilled, without a name, or too old. In an emergency call 911.", normal, "")
	return p.bytes()
}

// list is a numbered list.
func (s *sheet) list(points []string) {
	for i, words := range points {
		s.point(string(rune('1'+i))+".", words)
	}
}
