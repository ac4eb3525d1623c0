package query

import (
	"slices"
	"strconv"
)

// output resolves one selected expression.
func (p *Plan) output(e *Expr) error {
	switch e.Op {
	case OfKey:
		return p.selectKeys(e)
	case OfFunc:
		at, kind, name, err := p.scalar(e.Arg)
		if err != nil {
			return err
		}
		if kind, err = e.Func.result(kind, e.at); err != nil {
			return err
		}
		return p.add(e, Output{Name: string(e.Func) + "." + name, Kind: kind, Key: -1, Input: at, Func: e.Func})
	default:
	}
	if p.Aggregated {
		return wrong(e.at, "beside group_by or an aggregate function, a column is selected through an aggregate function")
	}
	at, kind, name, err := p.scalar(e)
	if err != nil {
		return err
	}
	return p.add(e, Output{Name: name, Kind: kind, Key: -1, Input: at})
}

func (p *Plan) selectKeys(e *Expr) error {
	if e.Key >= len(p.Keys) || len(p.Keys) == 0 {
		return wrong(e.at, "group_by has no such key; the first one is 0")
	}
	for i, k := range p.Keys {
		if e.Key != AllKeys && e.Key != i {
			continue
		}
		if err := p.add(e, Output{Name: k.Name, Kind: k.Kind, Key: i}); err != nil {
			return err
		}
	}
	return nil
}

// add adds an output, whose name must be its own.
func (p *Plan) add(e *Expr, o Output) error {
	if slices.ContainsFunc(p.Outputs, func(other Output) bool { return other.Name == o.Name }) {
		return wrong(e.at, "selects "+strconv.Quote(o.Name)+" twice")
	}
	p.Outputs = append(p.Outputs, o)
	return nil
}

// result is the kind of a function's result over values of a kind.
func (f Func) result(of Kind, at []string) (Kind, error) {
	switch f {
	case Count:
		return Integer, nil
	case Mean, Median, Stddev:
		if of.numeric() {
			return Number, nil
		}
	case Sum:
		if of.numeric() {
			return of, nil
		}
	case Min, Max:
		if of != Flag {
			return of, nil
		}
	default:
		return of, nil
	}
	return "", wrong(at, string(f)+" does not take a "+string(of))
}
