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
	"runtime"
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
	if err := release(*version, *commit, *out, time.Unix(*epoch, 0).UTC(), strings.Split(*platforms, ",")); err != nil {
		log.Fatal(err)
	}
}

func release(version, commit, out string, at time.Time, platforms []string) error {
	if err := isCheckedOut(".", commit); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "haltd-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)

	own := runtime.GOOS + "/" + runtime.GOARCH // to tell of its own commands
	binaries := map[string]string{}
	for _, platform := range append([]string{own}, platforms...) {
		if binaries[platform] != "" {
			continue
		}
		log.Printf("building for %s", platform) // minutes, where nothing was built before
		binaries[platform] = filepath.Join(work, strings.ReplaceAll(platform, "/", "-"))
		if err := build(flags(version, commit), binaries[platform], platform); err != nil {
			return err
		}
	}
	parts, err := components(binaries[own])
	if err != nil {
		return err
	}
	files, err := beside(binaries[own])
	if err != nil {
		return err
	}
	files["licences.txt"] = licences(parts)
	published := map[string][]byte{"haltd-" + version + ".cdx.json": sbom(version, parts), "haltd-" + version + "-licences.txt": files["licences.txt"]}
	for _, platform := range platforms {
		if files["haltd"], err = os.ReadFile(binaries[platform]); err != nil {
			return err
		}
		name := "haltd-" + version + "-" + strings.ReplaceAll(platform, "/", "-")
		if published[name+".tar.gz"], err = archive(name, files, at); err != nil {
			return err
		}
	}
	if err := isCheckedOut(".", commit); err != nil { // still, after minutes
		return err
	}
	return publish(out, published)
}

// isCheckedOut wants a folder to hold the commit and nothing that would make the
// release another one: its bytes would be nobody else's.
func isCheckedOut(dir, commit string) error {
	for _, check := range []struct {
		args []string
		want string
	}{
		{[]string{"rev-parse", "HEAD"}, commit},
		{[]string{"status", "--porcelain"}, ""},
	} {
		cmd := exec.Command("git", check.args...)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("git %s: %w", strings.Join(check.args, " "), err)
		}
		if got := strings.TrimSpace(string(out)); got != check.want {
			return fmt.Errorf("a release is made from a commit alone, and git %s says:\n%s", strings.Join(check.args, " "), got)
		}
	}
	return nil
}

// beside is what an archive holds besides the binary and the licences.
func beside(binary string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for name, args := range map[string][]string{
		"haltd.1": {"man"}, "completion/haltd.bash": {"completion", "bash"}, "completion/_haltd": {"completion", "zsh"}, "completion/haltd.fish": {"completion", "fish"},
	} {
		text, err := exec.Command(binary, args...).Output()
		if err != nil {
			return nil, fmt.Errorf("haltd %s: %w", strings.Join(args, " "), err)
		}
		files[name] = text
	}
	for _, pattern := range []string{"LICENSE", "README.md", "CHANGELOG.md", "haltd.example.yaml", "docs/*.md", "docs/images/*", "deploy/systemd/*", "deploy/proxy/*", "deploy/prometheus/*", "deploy/grafana/*"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			return nil, fmt.Errorf("no %s: %v", pattern, err)
		}
		for _, name := range names {
			if files[name], err = os.ReadFile(name); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// profile is what make build optimises by, too.
const profile = "test/load/cmd/profile/haltd.pgo"

// flags make the linker write into a binary which version it is and from which
// commit. The go command would note the commit itself, but with what else it
// finds in the checkout, which another machine may have otherwise.
func flags(version, commit string) string {
	return "-s -w -buildid= -X main.version=" + version + " -X main.commit=" + commit
}

// build makes the binary for a platform, from nothing that another machine would
// have otherwise.
func build(ldflags, binary, platform string) error {
	goos, arch, _ := strings.Cut(platform, "/")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-pgo", profile, "-ldflags", ldflags, "-o", binary, "./cmd/haltd")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+arch, "GOAMD64=v1", "GOARM64=v8.0", "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off")
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
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
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
