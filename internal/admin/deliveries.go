package admin

import (
	"context"
	"net/http"

	"github.com/haltd/haltd"
)

// AlertDeliveries are notices on their way.
type AlertDeliveries interface {
	// Deliveries has the errors of haltd.OutboxStore.
	Deliveries(ctx context.Context, q haltd.DeliveryQuery) (ds []haltd.Delivery, next string, err error)
	// Retry makes a dead delivery pending again.
	Retry(ctx context.Context, id string) (haltd.Delivery, error)
	// Dismiss takes a dead delivery off the list of those to look at.
	Dismiss(ctx context.Context, id string) (haltd.Delivery, error)
	AlertStatus(ctx context.Context) (haltd.AlertStatus, error)
}

type deliveriesInput struct {
	Paging
	Status   string `query:"status" enum:"pending,delivered,dead,dismissed" doc:"Only deliveries that have come so far."`
	Channel  string `query:"channel" doc:"Only deliveries to this channel, by id."`
	Incident string `query:"incident" doc:"Only deliveries about this incident."`
}

type deliveriesOutput struct {
	Body struct {
		Deliveries []haltd.Delivery `json:"deliveries"`
		Next       *string          `json:"next" doc:"Cursor of the next page; null on the last."`
	}
}

type deliveryInput struct {
	ID string `path:"id" doc:"Id of the delivery."`
}

type deliveryOutput struct{ Body haltd.Delivery }

type alertStatusOutput struct{ Body haltd.AlertStatus }

func (s *server) registerDeliveries() {
	register(s, operation(http.MethodGet, "/v1/deliveries", "list-deliveries", "Notices on their way to channels, the newest first"), s.deliveries)
	register(s, operation(http.MethodPost, "/v1/deliveries/{id}/retry", "retry-delivery", "Retry a delivery that was given up"),
		func(ctx context.Context, in *deliveryInput) (*deliveryOutput, error) {
			d, err := s.deps.Alerts.Retry(ctx, in.ID)
			return &deliveryOutput{deliveryInUTC(d)}, err
		})
	register(s, operation(http.MethodPost, "/v1/deliveries/{id}/dismiss", "dismiss-delivery", "Dismiss a delivery that was given up"),
		func(ctx context.Context, in *deliveryInput) (*deliveryOutput, error) {
			d, err := s.deps.Alerts.Dismiss(ctx, in.ID)
			return &deliveryOutput{deliveryInUTC(d)}, err
		})
	register(s, operation(http.MethodGet, "/v1/alerts/status", "get-alert-status", "Whether somebody would hear of an incident"),
		func(ctx context.Context, _ *noInput) (*alertStatusOutput, error) {
			status, err := s.deps.Alerts.AlertStatus(ctx)
			return &alertStatusOutput{status}, err
		})
}

func (s *server) deliveries(ctx context.Context, in *deliveriesInput) (*deliveriesOutput, error) {
	found, next, err := s.deps.Alerts.Deliveries(ctx, haltd.DeliveryQuery{
		Status: haltd.DeliveryStatus(in.Status), Channel: in.Channel, Incident: in.Incident, Page: in.ask(),
	})
	if err != nil {
		return nil, err
	}
	out := &deliveriesOutput{}
	out.Body.Next = nextOf(next)
	out.Body.Deliveries = make([]haltd.Delivery, len(found))
	for i := range found {
		out.Body.Deliveries[i] = deliveryInUTC(found[i])
	}
	return out, nil
}

func deliveryInUTC(d haltd.Delivery) haltd.Delivery {
	d.NextAt, d.UpdatedAt, d.Notice.Time = d.NextAt.UTC(), d.UpdatedAt.UTC(), d.Notice.Time.UTC()
	return d
}
