import { ActionIcon, Burger, Tooltip, useComputedColorScheme, useMantineColorScheme } from '@mantine/core'
import { IconLogout, IconMoon, IconSun } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useLiveness } from '../api/live'
import { meQuery, signOut } from '../api/service'
import { attempt } from '../parts/notify'
import { Dot } from '../parts/Dot'
import { Search } from './Search'
import { Trail } from './Trail'
import classes from './shell.module.css'

export function TopBar({ menuOpened, onMenu }: { menuOpened: boolean; onMenu: () => void }) {
  return (
    <div className={classes.bar}>
      <Burger opened={menuOpened} onClick={onMenu} hiddenFrom="md" size="sm" aria-label="Menu" />
      <Trail />
      <Search />
      <LiveMark />
      <Who />
      <SchemeButton />
      <SignOutButton />
    </div>
  )
}

function LiveMark() {
  const { state } = useLiveness()
  const words = { live: 'Live', connecting: 'Connecting', stopped: 'Not live' }
  const colors = { live: 'green', connecting: 'gray', stopped: 'amber' } as const
  return (
    <span className={classes.live} role="status">
      <Dot color={colors[state]} /> {words[state]}
    </span>
  )
}

/** Who is signed in: under this name the audit log keeps what is changed here. */
function Who() {
  const me = useQuery(meQuery).data
  if (!me) return null
  const role = me.actor === me.role ? undefined : me.role
  return (
    <Tooltip label="The audit log has what you change under this name">
      <span className={classes.who}>
        {me.actor}
        {role && <span className="muted">, {role}</span>}
      </span>
    </Tooltip>
  )
}

function SchemeButton() {
  const { setColorScheme } = useMantineColorScheme()
  const scheme = useComputedColorScheme('light')
  const other = scheme === 'light' ? 'dark' : 'light'
  return (
    <Tooltip label={`Show in ${other} colours`}>
      <ActionIcon variant="default" size={32} aria-label={`Show in ${other} colours`} onClick={() => setColorScheme(other)}>
        {scheme === 'light' ? <IconMoon size={16} /> : <IconSun size={16} />}
      </ActionIcon>
    </Tooltip>
  )
}

function SignOutButton() {
  const navigate = useNavigate()
  const queries = useQueryClient()
  const leave = () =>
    attempt('Not signed out.', async () => {
      await signOut()
      await navigate({ to: '/sign-in' })
      queries.clear()
    })
  return (
    <Tooltip label="Sign out">
      <ActionIcon variant="default" size={32} aria-label="Sign out" onClick={leave}>
        <IconLogout size={16} />
      </ActionIcon>
    </Tooltip>
  )
}
