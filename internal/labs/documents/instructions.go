package documents

import (
	"context"
	"slices"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// InstructionSheet holds the data of the instructions for a lab test.
type InstructionSheet struct {
	Test    catalogue.Test
	Lab     catalogue.Lab
	Samples []catalogue.SampleType
}

// InstructionsOf reads the data of the instructions for a lab test, or returns
// a NotFound fault.
func InstructionsOf(ctx context.Context, tx *store.Tx, team teams.ID, id catalogue.TestID) (*InstructionSheet, error) {
	test, err := catalogue.GetTest(ctx, tx, team, id)
	if err != nil {
		return nil, err
	}
	offered, err := catalogue.Load(ctx, tx, team)
	if err != nil {
		return nil, err
	}
	s := &InstructionSheet{Test: test, Samples: []catalogue.SampleType{test.SampleType}}
	s.Lab, _ = offered.Lab(test.Lab)
	for _, m := range offered.MarkersOf(test) {
		if !slices.Contains(s.Samples, m.Sample) {
			s.Samples = append(s.Samples, m.Sample)
		}
	}
	return s, nil
}

// Render renders the instructions of the lab test.
//
// Reference 1.14, 1.16.
func (s *InstructionSheet) Render() ([]byte, error) {
	return s.render(pageFrame{foot: "Lab test " + s.Test.ID.String()}, s.Test.UpdatedAt, nil)
}

// Instructions renders the instructions of the order's lab test, with the
// number for the sample. They name no person: they are in a box that others
// may open.
//
// Reference 1.14.
func (s *Subject) Instructions() ([]byte, error) {
	instructions := &InstructionSheet{Test: s.Facts.Test, Lab: s.Facts.Lab, Samples: s.samples()}
	return instructions.render(pageFrame{foot: s.footer(), banner: s.banner()}, s.placedAt(), func(p *pdfDocument) {
		if s.Order.SampleID != "" {
			p.fields(1, field{"Control number of this order", s.Order.SampleID})
		}
	})
}

func (s *InstructionSheet) render(frame pageFrame, made time.Time, own func(p *pdfDocument)) ([]byte, error) {
	frame.title, frame.lines = "HOW TO GIVE YOUR SAMPLE, continued", []string{labelledValue("Test", s.Test.Name)}
	frame.laboratory = laboratoryLine(laboratoryOf(s.Lab))
	p := newLetterDocument("Collection instructions", frame, made)
	p.writeLine(margin, p.y+14, 15, "B", printableText("HOW TO GIVE YOUR SAMPLE"))
	p.y += 20
	p.fields(3, field{"Test", s.Test.Name}, field{"Laboratory", s.Lab.Name}, field{"Collection", label(s.Test.Method)})
	if own != nil {
		own(p)
	}
	p.heading("Before")
	before := stepsBefore[s.Test.Method]
	if s.Test.Fasting {
		before = append([]string{"Do not eat for 8 to 12 hours before the collection. Drink only water. Take medicines as usual, unless your physician says otherwise."}, before...)
	}
	p.list(before)
	for _, sample := range s.Samples {
		steps, known := collectionSteps[stepsKey{isSelfCollected(s.Test.Method), sample}]
		if !known {
			continue
		}
		p.heading(sampleHeading(sample))
		p.list(steps)
	}
	p.heading("After")
	p.list(stepsAfter[s.Test.Method])
	p.heading("If something goes wrong")
	p.paragraph("Do not send or hand in a sample that is too small, spilled, too old or without a name. Ask the clinic that ordered the test. In an emergency call 911.", normalSize, "")
	return p.output()
}

// sampleHeading names a kind of sample for a patient. The kind serum includes
// every tube of blood, such as whole blood with EDTA.
func sampleHeading(sample catalogue.SampleType) string {
	if sample == catalogue.Serum {
		return "Blood"
	}
	return label(sample)
}

// list writes a numbered list.
func (s *pdfDocument) list(points []string) {
	for i, words := range points {
		s.point(string(rune('1'+i))+".", words)
	}
}

// stepsBefore and stepsAfter are instructions by the method of collection.
var (
	stepsBefore = map[catalogue.Method][]string{
		catalogue.TestKit: {
			"Check that the box is undamaged and complete, and that it has not expired.",
			"Read all steps before you begin. Collect the sample on a Monday, Tuesday, Wednesday or Thursday, and send it on the same day.",
			"Write your full name, date of birth, and the date and time of collection on the label, with a pen that does not smear.",
			"Wash your hands with warm water and soap, and dry them.",
		},
		catalogue.WalkIn: {
			"Bring the requisition, on paper or on your phone, and a photo ID.",
			"Drink plenty of water the day before and in the morning, unless your physician said not to.",
			"Wear sleeves that roll up above the elbow.",
			"Tell the staff if you take blood thinners, faint easily, or are allergic to latex or adhesive tape.",
		},
		catalogue.AtHome: {
			"Have a photo ID ready, and a chair and a table in good light.",
			"Drink plenty of water the day before and in the morning, unless your physician said not to.",
			"Keep pets in another room during the visit.",
			"Tell the phlebotomist if you take blood thinners, faint easily, or are allergic to latex or adhesive tape.",
		},
		catalogue.OnSite: {
			"For the staff: ask the patient for full name and date of birth, and compare both with the requisition.",
			"Check that tubes and containers are of the kind that the lab requires, and have not expired.",
			"Print the labels before you begin.",
		},
	}
	stepsAfter = map[catalogue.Method][]string{
		catalogue.TestKit: {
			"Put the sample into the bag with the absorbent pad, close it, and put the bag into the box.",
			"Stick the return label that came with the kit on the box. Do not use another one.",
			"Give it to the carrier today. Do not leave it in a car, in the sun, or in a mailbox overnight.",
		},
		catalogue.WalkIn: {
			"Press on the puncture site for five minutes, and keep the bandage on for an hour.",
			"Do not lift anything heavy with that arm for the rest of the day.",
		},
		catalogue.AtHome: {
			"Press on the puncture site for five minutes, and keep the bandage on for an hour.",
			"Before the phlebotomist leaves, read the labels: your name and date of birth must be on each.",
		},
		catalogue.OnSite: {
			"Label each tube in front of the patient: name, date of birth, date and time. Never label a tube before it is filled.",
			"Enclose the requisition, keep the temperature that the lab requires, and give the samples to its courier.",
			"Report that the sample was drawn, so that the order can continue.",
		},
	}
)

// stepsKey selects the steps of a collection.
type stepsKey struct {
	self   bool
	sample catalogue.SampleType
}

// isSelfCollected reports that patients collect the sample themselves.
func isSelfCollected(m catalogue.Method) bool { return m == catalogue.TestKit }

// collectionSteps are the steps of a collection.
var collectionSteps = map[stepsKey][]string{
	{true, catalogue.DriedBloodSpot}: {
		"Warm your hand, and let the arm hang for a minute. Clean the tip of the ring or middle finger with the alcohol pad and let it dry.",
		"Press the lancet firmly on the side of the tip. Wipe the first drop away with the gauze.",
		"Let a large drop fall on each circle of the card. Do not touch the paper, and do not put a second drop on a filled spot.",
		"Fill every circle. If the blood stops, use the second lancet on another finger.",
		"Let the card dry flat and open for at least 30 minutes, away from sun and heat. Close it only when it is dry.",
	},
	{true, catalogue.ArmCollector}: {
		"Choose the upper arm, and rub it with the warm pack for two minutes. Clean it with the alcohol pad and let it dry.",
		"Stick the device on the skin, and press the button until it clicks.",
		"Stay seated with the arm hanging. It takes three to five minutes until the tube is filled up to the mark.",
		"Take the device off, cover the site, pull the tube out and close it with its cap until it clicks.",
		"Turn the tube over gently ten times. Do not shake it.",
	},
	{true, catalogue.Serum}: {
		"Warm your hand, and clean the tip of the ring or middle finger with the alcohol pad. Let it dry.",
		"Press the lancet firmly on the side of the tip. Wipe the first drop away with the gauze.",
		"Hold the finger over the tube and let the drops fall in, up to the upper mark. Do not press hard: it spoils the sample.",
		"Close the tube until it clicks, and turn it over gently five times. Let it stand upright for 30 minutes.",
	},
	{true, catalogue.Saliva}: {
		"Do not eat, drink, smoke, chew gum or brush your teeth for 30 minutes before.",
		"Let saliva gather, and spit gently into the funnel until the liquid reaches the mark. Bubbles do not count.",
		"Close the lid firmly, so that the liquid in it runs down. Take the funnel off and put the cap on.",
		"Turn the tube over ten times.",
	},
	{true, catalogue.Urine}: {
		"Use the first urine of the morning, unless your instructions say otherwise. Clean yourself with the wipe.",
		"Begin in the toilet, then hold the cup in the stream, and finish in the toilet.",
		"Fill the tube up to the mark, and close it until it clicks. Do not touch the inside of cup or tube.",
	},
	{true, catalogue.Stool}: {
		"Spread the paper over the toilet seat. The sample must touch neither water nor urine.",
		"Take small pieces from several places with the spoon in the cap, and fill the tube up to the mark, not more.",
		"Close it firmly and shake it until the pieces float in the liquid. Flush the paper, and wash your hands.",
	},
	{false, catalogue.Serum}: {
		"Blood is drawn from a vein in your arm. It is usually less than four spoonfuls and takes about five minutes.",
	},
	{false, catalogue.DriedBloodSpot}: {
		"A finger is pricked, and drops of blood are put on a card, which dries for 30 minutes.",
	},
	{false, catalogue.ArmCollector}: {
		"A small device on the upper arm takes a few drops of blood within five minutes.",
	},
	{false, catalogue.Saliva}: {
		"You spit into a tube. Do not eat, drink, smoke or brush your teeth for 30 minutes before.",
	},
	{false, catalogue.Urine}: {
		"You fill a cup in private: begin in the toilet, then hold the cup in the stream. Do not empty your bladder in the hour before.",
	},
	{false, catalogue.Stool}: {
		"You get a container to take home. Collect the sample with the spoon in its cap. Neither water nor urine may touch the sample.",
	},
}
