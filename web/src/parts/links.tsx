import { Link } from '@tanstack/react-router'
import type { CSSProperties } from 'react'

const strong: CSSProperties = { fontWeight: 600 }

export function AgentLink({ id }: { id: string }) {
  return (
    <Link to="/agents/$id" params={{ id }} style={strong} title={id}>
      {id}
    </Link>
  )
}

export function SessionLink({ agent, id, label }: { agent: string; id: string; label?: string }) {
  return (
    <Link to="/agents/$id/sessions/$session" params={{ id: agent, session: id }} style={label ? undefined : strong} title={id}>
      {label ?? <bdi>{id}</bdi>}
    </Link>
  )
}

export function IncidentLink({ id }: { id: string }) {
  return (
    <Link to="/incidents/$id" params={{ id }} className="mono">
      {id}
    </Link>
  )
}
