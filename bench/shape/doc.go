// Package shape makes the Bundles that are measured: the same name and size
// give the same Bundle, byte by byte.
//
//	Wide, Chain, Fed --> *v1.Bundle --> POSTed by bench for Truss
//	                               +--> compiled by bench/raw for the baseline
//
// The objects are small ConfigMaps, ready on creation, so that what is timed is
// the engine and the API server and nothing else. A new shape is a function
// here; what is measured of it is bench's business.
package shape
