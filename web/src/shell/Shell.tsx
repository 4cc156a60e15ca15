import { AppShell, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Outlet, useLocation } from '@tanstack/react-router'
import { useEffect } from 'react'
import { LiveProvider } from '../api/live'
import { zone } from '../format/time'
import { Banners } from './Banners'
import { Sidebar } from './Sidebar'
import { TopBar } from './TopBar'
import { useKeptFocus } from './useKeptFocus'
import classes from './shell.module.css'

/** Shell is what all pages stand in: navigation, search, banners. */
export function Shell() {
  const [opened, menu] = useDisclosure(false)
  const path = useLocation({ select: (l) => l.pathname })
  useEffect(menu.close, [path])
  useKeptFocus()

  return (
    <LiveProvider>
      <a href="#content" className={classes.skip}>
        Skip to content
      </a>
      <AppShell
        layout="alt"
        padding={0}
        header={{ height: 56 }}
        navbar={{ width: 208, breakpoint: 'md', collapsed: { mobile: !opened } }}
      >
        <AppShell.Header className={classes.header}>
          <TopBar menuOpened={opened} onMenu={menu.toggle} />
        </AppShell.Header>
        <AppShell.Navbar className={classes.navbar}>
          <Sidebar onClose={menu.close} />
        </AppShell.Navbar>
        <AppShell.Main id="content" className={classes.main}>
          <div className={classes.content}>
            <Banners />
            <Outlet />
            {/* where there is room, the foot of the menu says it */}
            <Text size="xs" c="dimmed" mt="md" hiddenFrom="md">
              Times are in {zone()}.
            </Text>
          </div>
        </AppShell.Main>
      </AppShell>
    </LiveProvider>
  )
}
