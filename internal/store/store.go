// Package store says what a store is: all ports that the record is kept behind,
// together. Its folders are the adapters and what they share.
package store

import (
	"context"

	"github.com/haltd/haltd"
)

// Port is what an adapter implements.
type Port interface {
	haltd.EventStore
	haltd.EventFeed
	haltd.RetentionStore
	haltd.ExcerptStore
	haltd.AgentStore
	haltd.KeyStore
	haltd.KeyUseStore
	haltd.ControlStore
	haltd.ChangeFeed
	haltd.IncidentStore
	haltd.LedgerStore
	haltd.OutboxStore
	haltd.ChannelStore
	haltd.AlertRuleStore
	haltd.NodeStore
	haltd.StoreClock
	haltd.SecretStore
	haltd.SignOutStore
	haltd.TokenStore
	haltd.UserStore
	haltd.PriceStore
	haltd.AuditStore
	// Ping is CodeUnavailable while the store does not answer.
	Ping(ctx context.Context) error
	Size() int64 // in bytes
	// Unsealed says why secrets of channels could not be sealed; nil when all are.
	Unsealed() error
	Close() error
}
