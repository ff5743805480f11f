// Command etcd is etcd's own server under its own name. It exists because the
// module that holds etcd's main package also requires etcd's whole test suite.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
