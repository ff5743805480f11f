// Package reader reads from a cluster what the command line shows, with the
// rights of the person who asks.
//
//	kubeconfig, flags --> Connect --> Cluster --> Bundle, Names, Children   once
//	                                     +------> Follow --> Snapshot       as it changes
//
// It holds no client that could write: there is a REST client, of which only
// GET is used. A Bundle costs one request, its objects one LIST of their
// metadata per kind, by the label that names their owner; what is followed is
// watched, never polled.
package reader
