// Package report is what a benchmark leaves behind: rows with target, result
// and verdict, the table of them for people and the file for programs.
//
//	measures of bench --> Row --> Results --> Table (terminal), Write (results.json)
//
// Every sample is kept in the file, so that a result can be computed anew or
// drawn later.
package report
