import { Link, useLocation } from '@tanstack/react-router'
import classes from './shell.module.css'

const names: Record<string, string> = {
  agents: 'Agents',
  sessions: 'Sessions',
  incidents: 'Incidents',
  events: 'Events',
  rules: 'Rules',
  alerts: 'Alerts',
  costs: 'Costs',
  settings: 'Settings',
}

/** Trail says where the reader is, and leads back up. */
export function Trail() {
  const path = useLocation({ select: (l) => l.pathname })
  const parts = path.split('/').filter(Boolean).map(decoded)
  const [section, id, , session] = parts
  if (!section) return <Here name="Overview" />
  const name = names[section] ?? section
  if (!id) return <Here name={name} />
  return (
    <nav aria-label="Where you are" className={classes.trail}>
      <Link to={section === 'incidents' ? '/incidents' : '/agents'}>{name}</Link>
      <span aria-hidden="true" className="muted">/</span>
      {session ? (
        <>
          <Link to="/agents/$id" params={{ id }} className="clip">{id}</Link>
          <span aria-hidden="true" className="muted">/</span>
          <span className={`${classes.here} clip`}>{session}</span>
        </>
      ) : (
        <span className={`${classes.here} clip`}>{id}</span>
      )}
    </nav>
  )
}

function Here({ name }: { name: string }) {
  return (
    <div className={classes.trail}>
      <span className={classes.here}>{name}</span>
    </div>
  )
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
