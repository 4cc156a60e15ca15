package config

import (
	"crypto/tls"
	"crypto/x509"
	"net/netip"
	"strconv"
	"time"
)

// TLS is the certificate of a listener; without one it speaks plain HTTP.
type TLS struct {
	CertFile string `yaml:"cert_file"`
	KeyFile  string `yaml:"key_file"`
}

// On reports a listener that speaks TLS.
func (t TLS) On() bool { return t.CertFile != "" }

// Load reads the certificate and its key.
func (t TLS) Load() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
	if err != nil {
		return nil, bare(err)
	}
	return &pair, nil
}

// certificate checks the certificate of a listener.
func (d *decoder) certificate(key string, t TLS) {
	switch {
	case t == TLS{}:
		return
	case t.CertFile == "":
		d.problem(key+".cert_file", "missing; a key needs its certificate")
		return
	case t.KeyFile == "":
		d.problem(key+".key_file", "missing; a certificate needs its key")
		return
	}
	pair, err := t.Load()
	if err != nil {
		d.problem(key+".cert_file", "cannot use %s with %s: %v", quote(t.CertFile), quote(t.KeyFile), err)
		return
	}
	if pair.Leaf != nil && pair.Leaf.NotAfter.Before(time.Now()) {
		d.warn(key+".cert_file", "the certificate has expired on %s; clients will refuse it", pair.Leaf.NotAfter.Format(time.DateOnly))
	}
}

// trusted reads the networks of proxies.
func (d *decoder) trusted(c *Config) {
	for i, text := range c.TrustedProxies {
		prefix, err := netip.ParsePrefix(text)
		if address, errAddress := netip.ParseAddr(text); errAddress == nil {
			prefix, err = netip.PrefixFrom(address.Unmap(), address.Unmap().BitLen()), nil
		}
		key := "trusted_proxies[" + strconv.Itoa(i) + "]"
		switch {
		case err != nil:
			d.problem(key, "expected an address or a network such as 10.0.0.0/8, got %s", quote(text))
		case prefix.Bits() == 0:
			d.problem(key, "%s trusts everybody: any client could then name its own address; name your proxies", quote(text))
		default:
			c.Trusted = append(c.Trusted, prefix.Masked())
		}
	}
}

// maxCAFile is far more than any bundle of authorities needs.
const maxCAFile = 4 << 20

// reach checks how a provider is reached.
func (d *decoder) reach(key string, p *Provider) {
	if p.CAFile != "" {
		p.Authorities = d.authorities(key+".ca_file", p.CAFile)
	}
	if u := p.Proxy; u != nil && (u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" || u.Hostname() == "") {
		d.problem(key+".proxy", "expected a URL such as http://proxy.example.com:3128, got %s", quote(u.Redacted()))
		p.Proxy = nil
	}
	for _, limit := range []struct {
		name  string
		value time.Duration
	}{{"connect_timeout", p.ConnectTimeout}, {"first_byte_timeout", p.FirstByteTimeout}, {"idle_timeout", p.IdleTimeout}} {
		if limit.value != 0 || limit.name == "connect_timeout" {
			d.between(key+"."+limit.name, int64(limit.value), int64(100*time.Millisecond), int64(time.Hour), duration)
		}
	}
}

func (d *decoder) authorities(key, file string) *x509.CertPool {
	text, err := readFile(file, maxCAFile)
	if err != nil {
		d.problem(key, "cannot read %s: %v", quote(file), err)
		return nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil { // a system without any
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		d.problem(key, "%s holds no certificate in PEM form", quote(file))
		return nil
	}
	return pool
}
