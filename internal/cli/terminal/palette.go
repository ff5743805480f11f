package terminal

// A Colour is how a piece of text stands out.
type Colour string

// The colours in use, by meaning. They are the parameters of ANSI's "select
// graphic rendition"; all are among the first eight, which themes adjust.
const (
	Plain   Colour = ""
	Heading Colour = "1"
	Good    Colour = "32"
	Active  Colour = "33"
	Bad     Colour = "31;1"
	Marked  Colour = "35;1"
	Unsure  Colour = "36"
	Faint   Colour = "2"
)

// A Palette paints text, or leaves it as it is.
type Palette struct {
	// On says that colours are wanted.
	On bool
}

// Paint returns clean text in a colour. Measure the text before: what Paint
// adds takes no columns.
func (p Palette) Paint(c Colour, text string) string {
	if !p.On || c == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}
