package cluster

// Account is the identity a request is made as. The zero value is the
// manager's own identity. Comparable; use it as a map key.
type Account struct {
	Namespace, ServiceAccount string
}

// Own reports whether a is the manager's own identity.
func (a Account) Own() bool {
	return a == Account{}
}

// UserName returns the user name the API server knows the account by,
// "system:serviceaccount:<namespace>:<name>". It is empty for the zero value
// and for an account that lacks either part: nobody can be impersonated by it.
func (a Account) UserName() string {
	if a.Namespace == "" || a.ServiceAccount == "" {
		return ""
	}
	return "system:serviceaccount:" + a.Namespace + ":" + a.ServiceAccount
}

// String returns "namespace/name", or "manager" for the zero value.
func (a Account) String() string {
	if a.Own() {
		return "manager"
	}
	return a.Namespace + "/" + a.ServiceAccount
}
