//go:build never

// Package kubeserver pins the kube-apiserver that tests start. .ci/kubeserver builds it.
package kubeserver

import _ "k8s.io/kubernetes/cmd/kube-apiserver"
