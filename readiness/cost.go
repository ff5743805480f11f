package readiness

import (
	"errors"
	"slices"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types/ref"
)

// deepCost charges equality and membership by the values below, where CEL's
// own estimate takes the outermost size only: comparing an object with itself
// in a loop would otherwise be nearly free.
type deepCost struct{}

// CallCost implements cel-go's interpreter.ActualCostEstimator.
func (deepCost) CallCost(function, _ string, args []ref.Val, _ ref.Val) *uint64 {
	switch function {
	case operators.Equals, operators.NotEquals:
		cost := deepSize(args[0].Value(), expressionCost)
		return &cost
	case operators.In, operators.OldIn:
		cost := deepSize(args[1].Value(), expressionCost)
		return &cost
	}
	return nil
}

// deepSize counts the values in value, a hundred bytes of text as one, and
// stops at limit.
func deepSize(value any, limit uint64) uint64 {
	size := uint64(1)
	full := func(inner any) bool {
		size += deepSize(inner, limit-size)
		return size >= limit
	}
	switch v := value.(type) {
	case string:
		size += uint64(len(v)) / 100
	case []any:
		for _, inner := range v {
			if full(inner) {
				break
			}
		}
	case map[string]any:
		for key, inner := range v {
			if full(key) || full(inner) {
				break
			}
		}
	case []ref.Val:
		for _, inner := range v {
			if full(inner.Value()) {
				break
			}
		}
	}
	return min(size, limit)
}

var errAmplification = errors.New("a list or map literal may hold only constants, so that the expression's cost stays bounded: compare with || instead")

// checkAmplification refuses literals built from computed values. Nested in
// macros they describe values of exponential size in a few bytes, and
// comparing two of them is one call that no cost limit can interrupt.
func checkAmplification(checked *cel.Ast) error {
	var err error
	ast.PreOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if !isBounded(e) {
			err = errAmplification
		}
	}))
	return err
}

func isBounded(e ast.Expr) bool {
	if e.Kind() == ast.ListKind {
		return isConstantList(e.AsList().Elements())
	}
	if e.Kind() != ast.MapKind {
		return e.Kind() != ast.StructKind
	}
	return !slices.ContainsFunc(e.AsMap().Entries(), func(entry ast.EntryExpr) bool {
		return !isConstant(entry.AsMapEntry().Key()) || !isConstant(entry.AsMapEntry().Value())
	})
}

// isConstantList allows [x] besides constants: it is what the filter macro
// collects its hits with, and one element amplifies nothing.
func isConstantList(elements []ast.Expr) bool {
	if len(elements) == 1 && elements[0].Kind() == ast.IdentKind {
		return true
	}
	for _, element := range elements {
		if !isConstant(element) {
			return false
		}
	}
	return true
}

// isConstant is shallow: nested literals are visited on their own.
func isConstant(e ast.Expr) bool {
	return e.Kind() == ast.LiteralKind || e.Kind() == ast.ListKind || e.Kind() == ast.MapKind
}
