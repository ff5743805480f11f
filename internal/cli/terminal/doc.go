// Package terminal knows what a terminal can show and what it must not see.
//
//	text of the cluster --> Clean --> Fit, Wrap --> Palette.Paint --> output
//	environment, output --> Detect --> Settings
//	frames              --> Screen --> the same place of the terminal again
//
// Names and messages come from objects that strangers may write: an escape
// sequence in one of them could move the cursor, forge lines or set the
// window's title. Everything is cleaned before it is measured or coloured, so
// that widths hold and the only sequences written are the package's own.
package terminal
