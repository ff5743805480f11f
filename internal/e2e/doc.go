// Package e2e holds the end-to-end tests: a real control plane, the manager
// under its own service account's token, and YAML as a user would write it.
package e2e
