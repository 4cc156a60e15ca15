import { Group, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { ButtonLink } from '../parts/ButtonLink'
import type { ReactNode } from 'react'
import { alertsStatusQuery } from '../api/alerts'
import { useLiveness } from '../api/live'
import { bypassQuery, statusQuery } from '../api/service'
import { times } from '../format/figures'
import { clock, full, zone } from '../format/time'
import classes from './banners.module.css'

/** Banners are what concerns every page. */
export function Banners() {
  const live = useLiveness()
  const bypass = useQuery(bypassQuery).data
  const status = useQuery(statusQuery).data
  const alerts = useQuery(alertsStatusQuery).data
  const dead = alerts?.dead ?? 0
  return (
    <div className={classes.stack} aria-live="polite">
      {bypass?.on && (
        <Banner color="red" action={<ButtonLink to="/settings">Settings</ButtonLink>}>
          <b>Bypass is on: nothing is enforced except stops by hand.</b> Switched on
          {bypass.by && <> by <bdi>{bypass.by}</bdi></>}
          {bypass.at ? ` at ${full(bypass.at)}` : ''}
          {bypass.why ? <>: <bdi>{bypass.why}</bdi></> : '.'}
        </Banner>
      )}
      {live.state === 'stopped' && (
        <Banner color="amber">
          <b>Live updates stopped.</b> Showing {clock(live.at)} {zone()}. Trying again.
        </Banner>
      )}
      {status?.degraded.map((dependency) => (
        <Banner key={dependency} color="amber" action={<ButtonLink to={dependency === 'secrets' ? '/alerts' : '/settings'}>{dependency === 'secrets' ? 'Channels' : 'See why'}</ButtonLink>}>
          {without[dependency] ?? <b>{dependency} is failing; haltd works without it.</b>}
        </Banner>
      ))}
      {dead > 0 && (
        <Banner color="red" action={<ButtonLink to="/alerts">Retry or dismiss</ButtonLink>}>
          <b>{times(dead, 'alert was', 'alerts were')} never delivered.</b> haltd gave up.
        </Banner>
      )}
    </div>
  )
}

// What holds, and what to do, while haltd does without something.
const without: Record<string, ReactNode> = {
  store: (
    <>
      <b>Storage does not answer.</b> Calls go on and events wait in memory; agents with a hard budget are refused. Stopped agents stay stopped. Check the disk or the database.
    </>
  ),
  state: (
    <>
      <b>Redis does not answer.</b> This node counts by itself until it does. Stopped agents stay stopped.
    </>
  ),
  secrets: (
    <>
      <b>Secrets of channels are not sealed.</b> They work as before. The log says why at each start.
    </>
  ),
}

/** Banner is a message across the page. */
export function Banner({ color, children, action }: { color: 'red' | 'amber' | 'green'; children: ReactNode; action?: ReactNode }) {
  return (
    <Group className={classes.banner} data-color={color} wrap="nowrap" role={color === 'red' ? 'alert' : 'status'}>
      <IconAlertTriangle size={18} color={`var(--${color})`} style={{ flex: 'none' }} aria-hidden="true" />
      <Text size="sm" style={{ flex: 1, minWidth: 0, overflowWrap: 'anywhere' }}>
        {children}
      </Text>
      {action}
    </Group>
  )
}
