package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/policy"
)

// Defaults is the policy of an agent that has none of its own.
type Defaults struct {
	haltd.Policy
	// LoopDetection meets every request; nil when the file has none.
	LoopDetection *policy.LoopDetection `yaml:"loop_detection"`
}

// JWT is how the tokens are verified whose claims limit keys name. It has one
// key: a shared secret or a public key.
type JWT struct {
	Secret        Secret `yaml:"secret"`
	SecretFile    string `yaml:"secret_file"`
	PublicKeyFile string `yaml:"public_key_file"`
	// Issuer and Audience are demanded of a token where they are set.
	Issuer   string `yaml:"issuer"`
	Audience string `yaml:"audience"`
}

// policies checks what agents are allowed and makes the set of policies.
func (d *decoder) policies(c *Config) {
	for field, text := range faults(c.Defaults.Policy.Check()) {
		d.fault("defaults."+field, text)
	}
	d.killScope("defaults", &c.Defaults.Policy, false)
	c.Agents = d.agents(c)
	d.loopDetection("defaults.loop_detection", c.Defaults.LoopDetection)
	for i := range c.Policies {
		spec := &c.Policies[i].Spec
		d.loopDetection(fmt.Sprintf("policies[%d].spec.loop_detection", i), spec.LoopDetection)
		if spec.Upstream != nil {
			spec.Upstream = withoutSlash(spec.Upstream)
		}
		if c.JWT == nil {
			d.unverified(i, spec.Rules)
		}
	}
	set, err := policy.NewSet(c.Policies, c.Defaults.LoopDetection, d.verifier(c.JWT))
	for field, text := range faults(err) {
		d.fault(field, text)
	}
	c.PolicySet = set
}

// fault notes what a check found, unless the decoder found fault already.
func (d *decoder) fault(key, text string) {
	if !d.unread(key) {
		d.problem(key, "%s", text)
	}
}

// agents checks each agent's effective policy and lowercases the ids.
func (d *decoder) agents(c *Config) map[string]haltd.PolicyOverride {
	names := sortedKeys(c.Agents)
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(d.lines[join("agents", a)], d.lines[join("agents", b)])
	})
	byID, keys := map[string]haltd.PolicyOverride{}, map[string]string{}
	for _, name := range names {
		key, own := join("agents", name), c.Agents[name]
		effective := own.Over(c.Defaults.Policy)
		for field, text := range faults(effective.Check()) {
			// What the agent has from the defaults is told there.
			if own := key + "." + field; d.isSet(own) || !d.unread("defaults."+field) {
				d.fault(own, text)
			}
		}
		d.killScope(key, &effective, true)
		id, ok := haltd.AgentID(name)
		switch other, taken := keys[id]; {
		case !ok:
			d.problem(key, "not the id of an agent; use letters, digits and . _ : @ -, 128 at most, and a letter or digit first")
		case taken:
			d.problem(key, "the same agent as %s in line %d; ids are lowercased", other, d.lines[other])
		}
		byID[id], keys[id] = own, key
	}
	return byID
}

// killScope tells who would be stopped by a kill, and for whose calls, where the
// switch is on and the file does not say. What the defaults leave open is told once.
func (d *decoder) killScope(key string, p *haltd.Policy, own bool) {
	k := &p.KillSwitch
	key += ".kill_switch"
	isSetHere := func(name string) bool { return d.isSet(key+"."+name) || d.isSet("defaults.kill_switch."+name) }
	switch {
	case !k.Enabled || own && !d.isSet(key+".enabled"):
	case k.KillScope == haltd.ScopeAgent && !isSetHere("kill_scope"):
		d.notice(key, "a kill stops the agent for all who use it; where strangers talk to it, as to a public bot, set kill_scope: session and window_scope: session, else write kill_scope: agent to say that it is meant")
	case k.KillScope == haltd.ScopeSession && k.WindowScope == haltd.ScopeAgent && !isSetHere("window_scope"):
		d.notice(key, "a kill stops a session, but similarity compares the calls of all: whoever says what somebody else repeats may be stopped for it; set window_scope: session, else write window_scope: agent to say that it is meant")
	}
}

// loopDetection asks for the one key of a block that has no default and that
// nothing else would miss: without it, a block that looks as if it worked
// would do nothing.
func (d *decoder) loopDetection(key string, block *policy.LoopDetection) {
	if block != nil && !d.isSet(key+".enabled") {
		d.problem(key+".enabled", "missing; write true or false")
	}
}

// unverified warns of keys without which a limit is still one, but not the
// one that was meant.
func (d *decoder) unverified(document int, rules []policy.RateRule) {
	for i, r := range rules {
		for j, key := range r.LimitKeys {
			if strings.HasPrefix(key, "jwt:") {
				d.warn(fmt.Sprintf("policies[%d].spec.rules[%d].limit_keys[%d]", document, i, j),
					"%s is empty for every request: no key under jwt verifies tokens", key)
			}
		}
	}
}

// verifier is nil when the file has no key for tokens, or a bad one.
func (d *decoder) verifier(j *JWT) *policy.Verifier {
	if j == nil {
		return nil
	}
	settings := policy.VerifierConfig{Issuer: j.Issuer, Audience: j.Audience}
	source, secret := d.source("jwt.secret")
	switch public := d.isSet("jwt.public_key_file"); {
	case secret && public:
		d.problem("jwt.public_key_file", "set together with %s; keep one of them", source)
	case secret:
		j.Secret = d.secret("jwt.secret", j.Secret, j.SecretFile)
		settings.Secret = []byte(j.Secret.Reveal())
	case public:
		source = "jwt.public_key_file"
		settings.PublicKeyPEM = d.publicKey(source, j.PublicKeyFile)
	default:
		d.problem("jwt", "no key to verify tokens with; set secret, secret_file or public_key_file")
	}
	if d.unread("jwt") {
		return nil
	}
	v, err := policy.NewVerifier(settings)
	for _, text := range faults(err) {
		d.problem(source, "%s", text)
	}
	return v
}

func (d *decoder) publicKey(key, file string) []byte {
	data, err := readFile(file, maxSecretFile)
	switch {
	case err != nil:
		d.problem(key, "cannot read %s: %v", quote(file), err)
	case len(data) == 0:
		d.problem(key, "%s is empty", quote(file))
	}
	return data
}
