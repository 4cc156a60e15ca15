package sqlite

import (
	"context"
	"fmt"

	"github.com/haltd/haltd"
)

var channels = documents[haltd.Channel]{table: "channels", what: "channel"}

// Channels implements haltd.ChannelStore, the oldest first. One whose
// settings cannot be read for want of their key is switched off.
func (s *Store) Channels(ctx context.Context) ([]haltd.Channel, error) {
	list, err := channels.all(ctx, s.readers)
	if err != nil {
		return nil, fmt.Errorf("list channels: %w", explain(s.path, err))
	}
	for i := range list {
		list[i] = s.secrets.open(list[i])
	}
	return list, nil
}

// SaveChannel implements haltd.ChannelStore.
func (s *Store) SaveChannel(ctx context.Context, c haltd.Channel) error {
	c, err := s.secrets.seal(c)
	if err == nil {
		err = s.writer.write(ctx, func(ctx context.Context) error { return channels.save(ctx, s, c.ID, c) })
	}
	if err != nil {
		return fmt.Errorf("save channel: %w", explain(s.path, err))
	}
	return nil
}

// DeleteChannel implements haltd.ChannelStore.
func (s *Store) DeleteChannel(ctx context.Context, id string) error {
	err := s.writer.write(ctx, func(ctx context.Context) error { return channels.remove(ctx, s, id) })
	if err != nil {
		return fmt.Errorf("delete channel: %w", explain(s.path, err))
	}
	return nil
}
