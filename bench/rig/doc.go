// Package rig is the bench a measurement is clamped to: a control plane of its
// own, Truss's manager as its own process and account, and instruments that
// share nothing with either.
//
//	Start --> control plane, CRDs, rights, twin kind --> StartManager
//	measures --> Namespace, Submit, Watch (external clock), Mark/Since (audit log)
//	         --> Calm, Discard between runs
//
// The twin kind is Bundle once more under a group name of the same length: the
// manager does not serve it, so that the baseline can write an owner of the
// same size and schema while the manager runs. The audit log is on for both and
// holds metadata alone, so that neither pays for the size of an owner in it.
package rig
