package query

// cond is a condition as it was written: names are not resolved yet.
type cond struct {
	op          string // AND, OR, NOT, or a comparison
	left, right *cond  // of AND, OR; NOT has left
	a, b        token  // of a comparison
}

// deepest bounds how conditions nest.
const deepest = 64

// parseWhere reads the text of a condition:
//
//	condition  = conjunction { OR conjunction }
//	conjunction = negation { AND negation }
//	negation   = NOT negation | "(" condition ")" | operand comparison operand
func parseWhere(s string) (*cond, error) {
	tokens, err := lex(s)
	if err != nil {
		return nil, err
	}
	p := &whereParser{tokens: tokens}
	c, err := p.or(0)
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != endToken {
		return nil, &syntaxError{t.at, "expected AND, OR or the end"}
	}
	return c, nil
}

type whereParser struct {
	tokens []token
	next   int
}

func (p *whereParser) peek() token { return p.tokens[p.next] }

func (p *whereParser) pop() token {
	t := p.tokens[p.next]
	if t.kind != endToken {
		p.next++
	}
	return t
}

func (p *whereParser) keyword(word string) bool {
	if t := p.peek(); t.kind != keywordToken || t.text != word {
		return false
	}
	p.next++
	return true
}

func (p *whereParser) or(depth int) (*cond, error)  { return p.chain("OR", depth, p.and) }
func (p *whereParser) and(depth int) (*cond, error) { return p.chain("AND", depth, p.not) }

func (p *whereParser) chain(word string, depth int, part func(int) (*cond, error)) (*cond, error) {
	left, err := part(depth)
	for err == nil && p.keyword(word) {
		var right *cond
		right, err = part(depth)
		left = &cond{op: word, left: left, right: right}
	}
	return left, err
}

func (p *whereParser) not(depth int) (*cond, error) {
	if depth > deepest {
		return nil, &syntaxError{p.peek().at, "nested too deeply"}
	}
	if p.keyword("NOT") {
		c, err := p.not(depth + 1)
		return &cond{op: "NOT", left: c}, err
	}
	if p.peek().kind != openToken {
		return p.comparison()
	}
	p.pop()
	c, err := p.or(depth + 1)
	if err != nil {
		return nil, err
	}
	if t := p.pop(); t.kind != closeToken {
		return nil, &syntaxError{t.at, "expected )"}
	}
	return c, nil
}

func (p *whereParser) comparison() (*cond, error) {
	a, err := p.operand()
	if err != nil {
		return nil, err
	}
	t := p.pop()
	if t.kind != compareToken {
		return nil, &syntaxError{t.at, "expected one of > >= < <= = !="}
	}
	b, err := p.operand()
	return &cond{op: t.text, a: a, b: b}, err
}

func (p *whereParser) operand() (token, error) {
	t := p.pop()
	switch {
	case t.kind == nameToken, t.kind == stringToken, t.kind == numberToken:
		return t, nil
	case t.kind == keywordToken && (t.text == "TRUE" || t.text == "FALSE"):
		return t, nil
	}
	return t, &syntaxError{t.at, "expected a column, a number or a string in single quotes"}
}
