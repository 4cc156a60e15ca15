package cli

import (
	"bytes"
	"crypto/tls"
	"errors"
	"net/http"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/config"
)

// transportTo is how to call a listener, by its name in the configuration. The
// haltd that this describes is called by its address, which its certificate
// need not name, and the authority may be a private one: it must show the
// very certificate that the file here holds.
func transportTo(listener string, local config.TLS) (http.RoundTripper, error) {
	if !local.On() {
		return nil, nil // the default
	}
	own, err := local.Load()
	if err != nil {
		return nil, haltd.Errorf(codeUnreachable, "The certificate in %s.tls cannot be read: %v", listener, err).
			WithFix("Run this as the user that haltd runs as, or name the address with --admin https://NAME:PORT and set HALTD_ADMIN_TOKEN.")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{
		InsecureSkipVerify: true, // VerifyConnection does
		VerifyConnection: func(state tls.ConnectionState) error {
			if !bytes.Equal(state.PeerCertificates[0].Raw, own.Certificate[0]) {
				return errors.New("it shows another certificate than " + listener + ".tls.cert_file holds")
			}
			return nil
		},
	}
	return transport, nil
}
