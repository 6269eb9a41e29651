// Package certificate holds a TLS certificate that can be renewed while the server runs.
package certificate

import (
	"crypto/tls"
	"fmt"
	"sync/atomic"
)

// Certificate is a pair of PEM files. It is safe for concurrent use.
type Certificate struct {
	certFile, keyFile string
	current           atomic.Pointer[tls.Certificate]
}

// Load reads the certificate, with its chain, and its key.
func Load(certFile, keyFile string) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile}
	return c, c.Reload()
}

// Reload reads the files again, for connections to come. On failure the certificate stays as it was.
func (c *Certificate) Reload() error {
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("read TLS certificate: %w", err)
	}
	c.current.Store(&pair)
	return nil
}

// Config is that of a server with this certificate. It speaks HTTP/1.1 only, as the server does.
func (c *Certificate) Config() *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current.Load(), nil },
	}
}
