package controlplane

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func (o Options) progress(line string) {
	if o.Progress != nil {
		o.Progress(line)
	}
}

// start brings every component up: etcd and the API server one after the other
// (the API server looks for etcd but once a second, and the others give up
// when it is not ready), what needs only the API server together, and KWOK
// when its Stage kind is there.
func (p *Plane) start(ctx context.Context) error {
	for _, c := range p.components {
		if c.Name == kwok {
			break
		}
		if err := p.launch(c); err != nil {
			return err
		}
		if c.Name != etcd && c.Name != apiServer {
			continue // settle waits for it
		}
		if err := p.healthy(ctx, c); err != nil {
			return err
		}
	}
	if err := p.seed(ctx); err != nil {
		return err
	}
	return p.settle(ctx)
}

// seed writes the roles, the Stage kind and the stages, starts KWOK and makes
// the nodes. The first roles must be written by someone whom RBAC does not ask.
func (p *Plane) seed(ctx context.Context) error {
	p.options.progress("installing roles, stages and nodes")
	config, err := p.bootstrapConfig()
	if err != nil {
		return err
	}
	a, err := newApplier(config)
	if err != nil {
		return err
	}
	stages, err := stageManifests(p.layout, p.options.BinDir)
	if err != nil {
		return err
	}
	if err := a.apply(ctx, append([][]byte{rbacManifest}, stages...)...); err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	if err := p.launchKWOK(ctx, client); err != nil {
		return err
	}
	return ensureNodes(ctx, client, p.options.Nodes)
}

// launchKWOK starts KWOK unless it runs, as the holder of all nodes.
func (p *Plane) launchKWOK(ctx context.Context, client kubernetes.Interface) error {
	c, err := p.find(kwok)
	if err != nil {
		return err
	}
	if process := p.process(kwok); process != nil && process.alive() {
		return nil
	}
	if err := releaseNodes(ctx, client); err != nil {
		return err
	}
	return p.launch(c)
}

func (p *Plane) bootstrapConfig() (*rest.Config, error) {
	pair, err := p.pki.api.issue(bootstrapSubject())
	if err != nil {
		return nil, err
	}
	c := p.anonymous()
	c.CertData, c.KeyData = pair.cert, pair.key
	return c, nil
}

// settle waits until everything works, seen through the administrator's eyes:
// so it also shows that the administrator's binding is in effect.
func (p *Plane) settle(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(p.AdminConfig())
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	for _, c := range p.components {
		if err := p.healthy(ctx, c); err != nil {
			return err
		}
	}
	p.options.progress("waiting for the default service account")
	err = until(ctx, "the default service account", p.anyExit, func(ctx context.Context) error {
		_, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	if err != nil {
		return err
	}
	p.options.progress("waiting for nodes")
	return until(ctx, "nodes", p.anyExit, func(ctx context.Context) error {
		return nodesReady(ctx, client, p.options.Nodes)
	})
}
