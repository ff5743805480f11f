package readiness

import (
	"container/list"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The limits of a CEL expression. A cost unit is about one step, so that an
// evaluation stays well below 10 ms.
const (
	maxExpression       = 4 << 10
	expressionCost      = 100_000
	expressionCacheSize = 256
)

// exists is the ready-when value for objects that are ready once they exist.
const exists = "Exists"

// readyWhen is rule 2: the object's own statement.
func (e *Evaluator) readyWhen(obj *unstructured.Unstructured, expr string) Result {
	if expr == exists {
		return ready(ReasonExists, ReadyWhen+" is Exists and the object exists")
	}
	if strings.TrimSpace(expr) == "" {
		return broken(ReasonInvalidRule, "annotation "+ReadyWhen+" is empty: write Exists or a CEL expression over self")
	}
	shown := fmt.Sprintf("%s %q", ReadyWhen, truncate(expr, 200))
	program, err := e.expressions.program(expr)
	if err != nil {
		return broken(ReasonInvalidRule, fmt.Sprintf("%s: %v", shown, err))
	}
	value, _, err := program.Eval(map[string]any{"self": obj.Object})
	if err != nil {
		return expressionError(obj, shown, err)
	}
	holds, ok := value.(types.Bool)
	if !ok {
		return broken(ReasonInvalidRule, shown+" must give true or false")
	}
	if !bool(holds) {
		return inProgress(ReasonExpression, shown+" is false")
	}
	return ready(ReasonExpression, shown+" is true")
}

// expressionError tells what is not there yet from what is wrong. CEL's error
// texts may quote values, so those of a Secret are left out.
func expressionError(obj *unstructured.Unstructured, shown string, err error) Result {
	text := err.Error()
	notYet := strings.HasPrefix(text, "no such key") || strings.HasPrefix(text, "index out of bounds")
	if isSecret(obj) {
		text = "it cannot be evaluated (details are not shown for a Secret)"
	}
	if notYet {
		return inProgress(ReasonExpression, fmt.Sprintf("%s: not there yet: %s", shown, text))
	}
	return broken(ReasonInvalidRule, fmt.Sprintf("%s: %s", shown, text))
}

// An expressionCache keeps the programs last used, errors included.
type expressionCache struct {
	mu      sync.Mutex
	env     func() (*cel.Env, error)
	limit   int
	order   *list.List
	entries map[string]*list.Element
}

type cachedProgram struct {
	expr    string
	program cel.Program
	err     error
}

func newExpressionCache(limit int) *expressionCache {
	return &expressionCache{
		env:     sync.OnceValues(newEnvironment),
		limit:   limit,
		order:   list.New(),
		entries: map[string]*list.Element{},
	}
}

// program compiles expr or takes it from the cache. Compiling happens outside
// the lock; two callers may do it at once, and one result stays.
func (c *expressionCache) program(expr string) (cel.Program, error) {
	if len(expr) > maxExpression {
		return nil, fmt.Errorf("the expression is longer than %d bytes", maxExpression)
	}
	if entry := c.lookup(expr); entry != nil {
		return entry.program, entry.err
	}
	env, err := c.env()
	if err != nil {
		return nil, fmt.Errorf("cannot set up CEL: %w", err)
	}
	program, err := compileExpression(env, expr)
	c.store(&cachedProgram{expr: expr, program: program, err: err})
	return program, err
}

func (c *expressionCache) lookup(expr string) *cachedProgram {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, found := c.entries[expr]
	if !found {
		return nil
	}
	c.order.MoveToFront(element)
	return element.Value.(*cachedProgram)
}

func (c *expressionCache) store(entry *cachedProgram) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, found := c.entries[entry.expr]; found {
		return
	}
	c.entries[entry.expr] = c.order.PushFront(entry)
	if c.order.Len() <= c.limit {
		return
	}
	oldest := c.order.Remove(c.order.Back()).(*cachedProgram)
	delete(c.entries, oldest.expr)
}

// newEnvironment is CEL's standard library over self. The map macro and the
// string extensions are left out: with them a short expression can build
// values whose size the cost limit sees only after they exist.
func newEnvironment() (*cel.Env, error) {
	return cel.NewEnv(
		cel.Variable("self", cel.DynType),
		cel.ParserExpressionSizeLimit(maxExpression),
		cel.ClearMacros(),
		cel.Macros(cel.HasMacro, cel.AllMacro, cel.ExistsMacro, cel.ExistsOneMacro, cel.FilterMacro),
	)
}

func compileExpression(env *cel.Env, expr string) (cel.Program, error) {
	checked, issues := env.Compile(expr)
	if err := issues.Err(); err != nil {
		return nil, errors.New(firstIssue(issues))
	}
	if out := checked.OutputType(); !out.IsExactType(cel.BoolType) && !out.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("it gives %s, it must give true or false", out)
	}
	if err := checkAmplification(checked); err != nil {
		return nil, err
	}
	return env.Program(checked, cel.CostLimit(expressionCost), cel.CostTracking(deepCost{}), cel.EvalOptions(cel.OptOptimize))
}

// firstIssue words the first compile error in one line.
func firstIssue(issues *cel.Issues) string {
	for _, issue := range issues.Errors() {
		return fmt.Sprintf("column %d: %s", issue.Location.Column()+1, issue.Message)
	}
	return "it does not compile"
}
