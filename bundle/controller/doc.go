// Package controller reconciles Bundles: it joins the Bundle compiler with the
// executor and shows how its run stands in the Bundle's status and events.
//
//	Bundle event --Supersede--> executor
//	     |
//	     v
//	reconciler.Reconciler[*v1.Bundle] --Compile--> bundle.Compile
//	     |                                 executor.Report
//	     +--- Status, events <--- bundle.Status, bundle.ResourceEvents
package controller
