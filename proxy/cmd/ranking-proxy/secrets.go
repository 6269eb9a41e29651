package main

import (
	"crypto/tls"
	"os"
	"os/signal"
	"syscall"

	"github.com/rs/zerolog"

	"trtmc-ranking-proxy/proxy/apikey"
	"trtmc-ranking-proxy/proxy/certificate"
	"trtmc-ranking-proxy/proxy/config"
)

// openSecrets reads the API keys and the certificate, both nil unless configured, and again at every SIGHUP.
func openSecrets(c *config.Config, log zerolog.Logger) (keys *apikey.Keys, secure *tls.Config, err error) {
	onHangUp(func() {}) // with nothing to read anew a SIGHUP would end the process
	if c.APIKeyFile != "" {
		if keys, err = apikey.Load(c.APIKeyFile); err != nil {
			return nil, nil, err
		}
		reloadOnHangUp("API keys", keys.Reload, log)
	}
	if c.TLSCert != "" {
		pair, err := certificate.Load(c.TLSCert, c.TLSKey)
		if err != nil {
			return nil, nil, err
		}
		secure = pair.Config()
		reloadOnHangUp("TLS certificate", pair.Reload, log)
	}
	return keys, secure, nil
}

func reloadOnHangUp(what string, reload func() error, log zerolog.Logger) {
	onHangUp(func() {
		if err := reload(); err != nil {
			log.Error().Err(err).Str("what", what).Msg("cannot read anew; what was read before stays in force")
			return
		}
		log.Info().Str("what", what).Msg("read anew")
	})
}

// onHangUp calls f at every SIGHUP, for as long as the process lives.
func onHangUp(f func()) {
	hangUps := make(chan os.Signal, 1)
	signal.Notify(hangUps, syscall.SIGHUP)
	go func() {
		for range hangUps {
			f()
		}
	}()
}
