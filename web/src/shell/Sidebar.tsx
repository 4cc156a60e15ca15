import { ActionIcon, Badge, Group } from '@mantine/core'
import {
  IconActivity,
  IconAdjustmentsHorizontal,
  IconAlertOctagon,
  IconBell,
  IconChartBar,
  IconCoin,
  IconFilter,
  IconListTree,
  IconRobot,
  IconX,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { incidentCounts } from '../api/incidents'
import { statusQuery } from '../api/service'
import { bytes, count } from '../format/figures'
import { coarse, zone } from '../format/time'
import { Dot } from '../parts/Dot'
import { Logo } from './Logo'
import { Search } from './Search'
import classes from './shell.module.css'

export function Sidebar({ onClose }: { onClose: () => void }) {
  return (
    <>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Link to="/" className={classes.logo} aria-label="haltd, overview">
          <Logo /> haltd
        </Link>
        <ActionIcon variant="subtle" color="gray" aria-label="Close menu" hiddenFrom="md" onClick={onClose}>
          <IconX size={16} />
        </ActionIcon>
      </Group>
      <div className={classes.menuSearch}>
        <Search />
      </div>
      <nav aria-label="Pages">
        <NavItem to="/" icon={<IconChartBar size={16} />} label="Overview" />
        <NavItem to="/agents" icon={<IconRobot size={16} />} label="Agents" />
        <NavItem to="/sessions" icon={<IconListTree size={16} />} label="Sessions" />
        <NavItem to="/incidents" icon={<IconAlertOctagon size={16} />} label="Incidents" after={<OpenIncidents />} />
        <NavItem to="/events" icon={<IconActivity size={16} />} label="Events" />
        <NavItem to="/rules" icon={<IconFilter size={16} />} label="Rules" />
        <NavItem to="/alerts" icon={<IconBell size={16} />} label="Alerts" />
        <NavItem to="/costs" icon={<IconCoin size={16} />} label="Costs" />
        <NavItem to="/settings" icon={<IconAdjustmentsHorizontal size={16} />} label="Settings" />
      </nav>
      <ProcessStatus />
    </>
  )
}

function NavItem({ to, icon, label, after }: { to: LinkProps['to']; icon: ReactNode; label: string; after?: ReactNode }) {
  return (
    <Link to={to} className={classes.link} activeOptions={{ exact: to === '/', includeSearch: false }}>
      {icon}
      <span style={{ flex: 1 }}>{label}</span>
      {after}
    </Link>
  )
}

function OpenIncidents() {
  const { data } = useQuery(incidentCounts({ status: 'open' }))
  if (!data || data.total === 0) return null
  return (
    <Badge color="red" aria-label={`${count(data.total)} open`}>
      {count(data.total)}
    </Badge>
  )
}

function ProcessStatus() {
  const { data, isError } = useQuery(statusQuery)
  if (isError) {
    return (
      <div className={classes.status}>
        <Dot color="red" /> haltd does not answer
      </div>
    )
  }
  if (!data) return <div className={classes.status} />
  return (
    <div className={classes.status}>
      <div>
        <span>Gateway</span>
        <span className="mono clip" title={data.gateway}>
          {data.gateway.replace(/^https?:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?=:)/, '')}
        </span>
      </div>
      <div>
        <span>Storage</span>
        <span>{data.degraded.includes('store') ? 'Does not answer' : `OK, ${bytes(data.store_bytes)}`}</span>
      </div>
      <div>
        <span>Time zone</span>
        <span>{zone()}</span>
      </div>
      <div>
        <span>Up</span>
        <span>{coarse(data.uptime_seconds * 1000)}</span>
      </div>
      <div>
        <span>
          <Dot color={data.degraded.length > 0 ? 'amber' : 'green'} /> {data.degraded.length > 0 ? 'Degraded' : 'Ready'}
        </span>
        <span className="clip">{data.version}</span>
      </div>
    </div>
  )
}
