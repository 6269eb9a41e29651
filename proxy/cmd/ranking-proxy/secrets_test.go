package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"trtmc-ranking-proxy/ipc/ipctest"
)

// writeCertificate writes a certificate for 127.0.0.1 that is its own authority.
func writeCertificate(t *testing.T, certFile, keyFile string) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, _ := rand.Int(rand.Reader, big.NewInt(1<<60))
	template := &x509.Certificate{
		SerialNumber: serial, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, certFile, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	write(t, keyFile, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})))
	certificate, _ := x509.ParseCertificate(der)
	return certificate
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// trusting is a client that trusts one certificate and opens a connection for each request.
func trusting(certificate *x509.Certificate) *http.Client {
	roots := x509.NewCertPool()
	roots.AddCert(certificate)
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots}}}
}

func status(client *http.Client, url, key string) int {
	request, _ := http.NewRequest("POST", url+"/v1/ranking", strings.NewReader(`{"model":"test-model","query":{"text":"q"},"passages":[{"text":"a"}]}`))
	request.Header.Set("Authorization", "Bearer "+key)
	response, err := client.Do(request)
	if err != nil {
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}

// Keys and certificate are renewed by SIGHUP; files that cannot be read leave what was there.
func TestSecretsAreReadAnewOnHangUp(t *testing.T) {
	dir := t.TempDir()
	keys, cert, key := filepath.Join(dir, "keys"), filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	write(t, keys, "first\n")
	old := trusting(writeCertificate(t, cert, key))
	task := ipctest.Start(t, ipctest.Options{})
	p := start(t, "--task-socket="+task.Address, "--admin-listen=127.0.0.1:0", "--api-key-file="+keys, "--tls-cert="+cert, "--tls-key="+key)
	url := strings.Replace(p.url, "http://", "https://", 1)
	p.eventually(t, "a ranking over TLS", func() bool { return status(old, url, "first") == 200 })
	if got := status(old, url, "second"); got != 401 {
		t.Fatalf("an unknown key: %d", got)
	}
	if got := status(http.DefaultClient, url, "first"); got != 0 {
		t.Fatalf("a client that does not trust the certificate: %d", got)
	}

	write(t, keys, "second\n")
	renewed := trusting(writeCertificate(t, cert, key))
	p.Process.Signal(syscall.SIGHUP)
	p.eventually(t, "the new key under the new certificate", func() bool { return status(renewed, url, "second") == 200 })
	if got := status(renewed, url, "first"); got != 401 {
		t.Fatalf("the old key: %d", got)
	}
	if got := status(old, url, "second"); got != 0 {
		t.Fatalf("the old certificate is still served: %d", got)
	}

	write(t, keys, "")
	write(t, cert, "broken")
	p.Process.Signal(syscall.SIGHUP)
	p.eventually(t, "the log lines", func() bool { return strings.Count(p.log.String(), "cannot read anew") == 2 })
	if got := status(renewed, url, "second"); got != 200 {
		t.Fatalf("after a reload that failed: %d", got)
	}
}

// A reload asked of a proxy that has nothing to read anew is no reason to end.
func TestAHangUpEndsNothing(t *testing.T) {
	task := ipctest.Start(t, ipctest.Options{})
	p := start(t, "--task-socket="+task.Address)
	p.eventually(t, "a ranking", func() bool { return status(http.DefaultClient, p.url, "") == 200 })
	p.Process.Signal(syscall.SIGHUP)
	for range 20 {
		time.Sleep(10 * time.Millisecond)
		if got := status(http.DefaultClient, p.url, ""); got != 200 {
			t.Fatalf("after a hang-up: %d", got)
		}
	}
}
