// Command fakellm runs the fake provider as a process of its own.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/haltd/haltd/test/fakellm"
)

func main() {
	var o options
	flag.StringVar(&o.listen, "listen", "127.0.0.1:0", "address to listen on")
	flag.BoolVar(&o.tls, "tls", false, "serve HTTPS, HTTP/2 included, with a self-signed certificate")
	flag.StringVar(&o.certOut, "tls-cert-out", "", "with -tls: write the certificate to this file")
	flag.BoolVar(&o.exitWithStdin, "exit-with-stdin", false, "exit when standard input closes")
	flag.Parse()
	log.SetFlags(0)
	log.SetPrefix("fakellm: ")

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o, os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

type options struct {
	listen        string
	tls           bool
	certOut       string
	exitWithStdin bool
}

// run serves until ctx ends or, where asked, stdin closes. The first line on
// stdout says where.
func run(ctx context.Context, o options, stdin io.Reader, stdout io.Writer) error {
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	server := &http.Server{Handler: fakellm.New(nil), ReadHeaderTimeout: time.Minute}
	scheme := "http"
	if o.tls {
		scheme = "https"
		cert, err := selfSigned(time.Now(), o.certOut)
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	}
	fmt.Fprintf(stdout, "listening on %s://%s\n", scheme, listener.Addr())

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if o.exitWithStdin {
		go func() {
			defer cancel()
			_, _ = io.Copy(io.Discard, stdin)
		}()
	}
	// Streams may be waiting for hours by script: close, do not drain.
	context.AfterFunc(ctx, func() { server.Close() })
	if o.tls {
		err = server.ServeTLS(listener, "", "")
	} else {
		err = server.Serve(listener)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serving: %w", err)
}
