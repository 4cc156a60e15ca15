package openai

import (
	"cmp"

	"github.com/haltd/haltd"
	"github.com/haltd/haltd/internal/wire"
)

// hints collects the members by which clients of both formats name their user
// and session. Nothing rests on their type: whatever is neither a string nor a
// number is no hint.
type hints struct {
	user, safety, cacheKey, previous string
	session                          [3]string // by metadata: session, conversation, thread
	conversation                     string    // that the provider keeps
}

// read reads the member name where it is a hint.
func (h *hints) read(name []byte, r *wire.Reader) {
	switch string(name) {
	case "user":
		h.user = r.Identifier()
	case "safety_identifier":
		h.safety = r.Identifier()
	case "prompt_cache_key":
		h.cacheKey = r.OptionalText()
	case "previous_response_id":
		h.previous = r.OptionalText()
	case "metadata":
		h.readMetadata(r)
	case "conversation":
		h.readConversation(r)
	}
}

func (h *hints) readMetadata(r *wire.Reader) {
	if r.Kind() != wire.KindObject {
		return
	}
	for name := range r.Members() {
		switch string(name) {
		case "session_id":
			h.session[0] = r.Identifier()
		case "conversation_id":
			h.session[1] = r.Identifier()
		case "thread_id":
			h.session[2] = r.Identifier()
		}
	}
}

func (h *hints) readConversation(r *wire.Reader) {
	if r.Kind() != wire.KindObject {
		h.conversation = r.OptionalText()
		return
	}
	for name := range r.Object() {
		if string(name) == "id" {
			h.conversation = r.OptionalText()
		}
	}
}

func (h *hints) call() haltd.Hints {
	return haltd.Hints{
		User:           joinUsers(h.user, h.safety),
		Session:        cmp.Or(h.session[0], h.session[1], h.session[2], h.conversation),
		PromptCacheKey: h.cacheKey,
		PreviousID:     h.previous,
		Conversation:   h.conversation,
	}
}

// joinUsers is the user by both names: often one of them is the site's and the
// other its visitor's.
func joinUsers(user, safety string) string {
	if user == "" || safety == "" {
		return user + safety
	}
	return user + "\x00" + safety
}
