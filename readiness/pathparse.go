package readiness

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/client-go/util/jsonpath"
)

// quotedKey finds ['...'] selectors in the text of a path.
var quotedKey = regexp.MustCompile(`\['([^']*)'\]`)

// selectors finds [...], filters with their literals included.
var selectors = regexp.MustCompile(`\[\?\(.*?\)\]|\[[^\]]*\]`)

// strays finds what client-go skips without a word, or takes into a field
// name, between the fields of a path.
var strays = regexp.MustCompile(`(^|[^\\])[ \t"'@$]`)

// The errors of the parse tree, each with what to write instead.
var (
	errRecursive = errors.New("recursive descent (..) is not allowed: write the whole path, for example status.state")
	errUnion     = errors.New("a union [a,b] is not allowed: write one path")
	errSeveral   = errors.New("one expression is allowed, without text or braces beside it: write {.status.state}")
	errEmpty     = errors.New("a path needs field names: write for example status.state")
	errLiteral   = errors.New("a literal or keyword, quote or space is no part of a path: write for example status.state")
	errQuote     = errors.New(`a text in a filter needs quotes: write [?(@.type=="Ready")]`)
	errFilter    = errors.New(`a filter compares one path with one value: write [?(@.type=="Ready")]`)
	errNested    = errors.New("a filter within a filter is not allowed")
)

// pathBody strips what is optional and returns the path with a leading dot or
// bracket.
func pathBody(expr string) (string, error) {
	if len(expr) > maxPathLength {
		return "", fmt.Errorf("it is longer than %d bytes", maxPathLength)
	}
	body := strings.TrimSpace(expr)
	if strings.HasPrefix(body, "{") && strings.HasSuffix(body, "}") {
		body = strings.TrimSpace(body[1 : len(body)-1])
	}
	if strings.ContainsAny(body, "{}\n\r") {
		return "", errSeveral
	}
	body = strings.TrimPrefix(strings.TrimPrefix(body, "$"), "@")
	if body == "" || body == "." {
		return "", errEmpty
	}
	if err := checkQuotedKeys(body); err != nil {
		return "", err
	}
	if strays.MatchString(selectors.ReplaceAllString(body, "")) {
		return "", errLiteral
	}
	if body[0] != '.' && body[0] != '[' {
		body = "." + body
	}
	return body, nil
}

// checkQuotedKeys refuses ['a.b'], which client-go reads as two fields.
func checkQuotedKeys(body string) error {
	for _, match := range quotedKey.FindAllStringSubmatch(body, -1) {
		plain := strings.ReplaceAll(match[1], `\.`, "")
		if strings.Contains(plain, ".") {
			return fmt.Errorf(`the dots of a key need a backslash: write ['%s']`, strings.ReplaceAll(strings.ReplaceAll(match[1], `\.`, "."), ".", `\.`))
		}
	}
	if strings.Contains(body, `["`) {
		return errors.New(`a key needs single quotes: write ['key']`)
	}
	return nil
}

func parseSegments(body string) ([]segment, error) {
	parser, err := jsonpath.Parse("path", "{"+body+"}")
	if err != nil {
		return nil, explain(err)
	}
	if len(parser.Root.Nodes) != 1 {
		return nil, errSeveral
	}
	list, ok := parser.Root.Nodes[0].(*jsonpath.ListNode)
	if !ok {
		return nil, errSeveral
	}
	return compileSegments(list, false)
}

// explain adds the remedy to client-go's own syntax errors.
func explain(err error) error {
	if strings.Contains(err.Error(), "&") || strings.Contains(err.Error(), "|") {
		return errFilter
	}
	return fmt.Errorf("%w: write for example {.status.state}", err)
}

// compileSegments checks a list of the parse tree. Within a filter no further
// filter may stand, so that the cost stays linear.
func compileSegments(list *jsonpath.ListNode, inFilter bool) ([]segment, error) {
	if len(list.Nodes) == 0 {
		return nil, errEmpty
	}
	if len(list.Nodes) > maxPathSegments {
		return nil, fmt.Errorf("it has %d segments, at most %d are allowed", len(list.Nodes), maxPathSegments)
	}
	segments := make([]segment, 0, len(list.Nodes))
	for _, node := range list.Nodes {
		s, err := compileSegment(node, inFilter)
		if err != nil {
			return nil, err
		}
		segments = append(segments, s)
	}
	return segments, nil
}

func compileSegment(node jsonpath.Node, inFilter bool) (segment, error) {
	switch n := node.(type) {
	case *jsonpath.FieldNode:
		if n.Value == "" {
			return nil, errEmpty
		}
		return fieldSegment(n.Value), nil
	case *jsonpath.ArrayNode:
		return compileSlice(n)
	case *jsonpath.WildcardNode:
		return wildcardSegment{}, nil
	case *jsonpath.FilterNode:
		if inFilter {
			return nil, errNested
		}
		return compileFilter(n)
	case *jsonpath.RecursiveNode:
		return nil, errRecursive
	case *jsonpath.UnionNode:
		return nil, errUnion
	default:
		return nil, errLiteral
	}
}

func compileSlice(n *jsonpath.ArrayNode) (segment, error) {
	for _, param := range n.Params {
		if param.Known && !param.Derived && (param.Value > maxPathIndex || param.Value < -maxPathIndex) {
			return nil, fmt.Errorf("an index is outside -%d..%d", maxPathIndex, maxPathIndex)
		}
	}
	if n.Params[2].Known && n.Params[2].Value <= 0 {
		return nil, errors.New("a step must be 1 or more")
	}
	return sliceSegment{params: n.Params}, nil
}

func compileFilter(n *jsonpath.FilterNode) (segment, error) {
	left, err := compileSegments(n.Left, true)
	if err != nil {
		return nil, filterError(err)
	}
	filter := filterSegment{left: left, operator: n.Operator}
	if n.Operator == "exists" {
		return filter, nil
	}
	if !isOperator(n.Operator) {
		return nil, fmt.Errorf("the filter operator %q is unknown: use ==, !=, <, <=, > or >=", n.Operator)
	}
	if filter.literal, filter.isLiteral = literalOf(n.Right); filter.isLiteral {
		return filter, nil
	}
	filter.right, err = compileSegments(n.Right, true)
	if err != nil {
		return nil, filterError(err)
	}
	return filter, nil
}

func isOperator(operator string) bool {
	switch operator {
	case "==", "!=", "<", "<=", ">", ">=":
		return true
	}
	return false
}

// filterError turns what a bare word parses to into the usual mistake.
func filterError(err error) error {
	switch {
	case errors.Is(err, errLiteral):
		return errQuote
	case errors.Is(err, errEmpty):
		return errFilter
	}
	return err
}

// literalOf recognises the right side of a comparison that is one value.
func literalOf(list *jsonpath.ListNode) (any, bool) {
	if len(list.Nodes) != 1 {
		return nil, false
	}
	switch n := list.Nodes[0].(type) {
	case *jsonpath.TextNode:
		return n.Text, true
	case *jsonpath.IntNode:
		return int64(n.Value), true
	case *jsonpath.FloatNode:
		return n.Value, true
	case *jsonpath.BoolNode:
		return n.Value, true
	}
	return nil, false
}
