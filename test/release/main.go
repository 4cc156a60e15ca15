// Command release builds what is published of a version: archives for four
// platforms, their checksums, the list of what is inside (SBOM) and the licences
// of it. The same commit gives the same bytes, whoever builds it.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	version := flag.String("version", "dev", "version to build")
	commit := flag.String("commit", "", "commit that is built, as haltd version names it")
	out := flag.String("out", "dist", "folder to write to")
	epoch := flag.Int64("epoch", 0, "time of the files in archives, in seconds: that of the commit")
	platforms := flag.String("platforms", "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64", "what to build for")
	flag.Parse()
	if *commit == "" {
		log.Fatal("-commit is missing: a release is made from a commit")
	}
	if err := release(flags(*version, *commit), *version, *out, time.Unix(*epoch, 0).UTC(), strings.Split(*platforms, ",")); err != nil {
		log.Fatal(err)
	}
}

func release(ldflags, version, out string, at time.Time, platforms []string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "haltd-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)

	own := filepath.Join(work, "own") // to tell of its own commands
	if err := build(ldflags, own, ""); err != nil {
		return err
	}
	parts, err := components(own)
	if err != nil {
		return err
	}
	files := map[string][]byte{"licences.txt": licences(parts)}
	for name, args := range map[string][]string{
		"haltd.1": {"man"}, "completion/haltd.bash": {"completion", "bash"}, "completion/_haltd": {"completion", "zsh"}, "completion/haltd.fish": {"completion", "fish"},
	} {
		if files[name], err = exec.Command(own, args...).Output(); err != nil {
			return fmt.Errorf("haltd %s: %w", strings.Join(args, " "), err)
		}
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "haltd.example.yaml", "deploy/systemd/haltd.service"} {
		if files[name], err = os.ReadFile(name); err != nil {
			return err
		}
	}
	published := map[string][]byte{"haltd-" + version + ".cdx.json": sbom(version, parts), "haltd-" + version + "-licences.txt": files["licences.txt"]}
	for _, platform := range platforms {
		log.Printf("building for %s", platform) // minutes, where nothing was built before
		binary := filepath.Join(work, "haltd")
		if err := build(ldflags, binary, platform); err != nil {
			return err
		}
		if files["haltd"], err = os.ReadFile(binary); err != nil {
			return err
		}
		name := "haltd-" + version + "-" + strings.ReplaceAll(platform, "/", "-")
		if published[name+".tar.gz"], err = archive(name, files, at); err != nil {
			return err
		}
	}
	return publish(out, published)
}

// profile is what make build optimises by, too.
const profile = "test/load/cmd/profile/haltd.pgo"

// flags make the linker write into a binary which version it is and from which
// commit. The go command would note the commit itself, but with what else it
// finds in the checkout, which another machine may have otherwise.
func flags(version, commit string) string {
	return "-s -w -buildid= -X main.version=" + version + " -X main.commit=" + commit
}

// build makes the binary for a platform, "" for this one, from nothing that
// another machine would have otherwise.
func build(ldflags, binary, platform string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-pgo", profile, "-ldflags", ldflags, "-o", binary, "./cmd/haltd")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if goos, arch, ok := strings.Cut(platform, "/"); ok {
		cmd.Env = append(cmd.Env, "GOOS="+goos, "GOARCH="+arch)
	}
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build for %s: %w\n%s", platform, err, said)
	}
	return nil
}

// archive packs files under one folder, in the order of their names and at one
// time.
func archive(folder string, files map[string][]byte, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	zipped, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	packed := tar.NewWriter(zipped)
	for _, name := range sorted(files) {
		mode := int64(0o644)
		if name == "haltd" {
			mode = 0o755
		}
		header := &tar.Header{Name: folder + "/" + name, Mode: mode, Size: int64(len(files[name])), ModTime: at, Format: tar.FormatPAX}
		if err := packed.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := packed.Write(files[name]); err != nil {
			return nil, err
		}
	}
	if err := packed.Close(); err != nil {
		return nil, err
	}
	err = zipped.Close()
	return b.Bytes(), err
}

func publish(out string, files map[string][]byte) error {
	var sums strings.Builder
	for _, name := range sorted(files) {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(files[name]), name)
		if err := os.WriteFile(filepath.Join(out, name), files[name], 0o644); err != nil {
			return err
		}
	}
	fmt.Print(sums.String())
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

func sorted[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
