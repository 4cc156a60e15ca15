import './theme/library'
import './theme/tokens.css'

import { MantineProvider } from '@mantine/core'
import { ModalsProvider } from '@mantine/modals'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { makeQueryClient } from './api/queries'
import { makeRouter, signInAgain } from './routes'
import { theme, variables } from './theme/theme'

const queries = makeQueryClient(() => signInAgain(router))
const router = makeRouter(queries)

// The page is asked for before anything is drawn, so that it is drawn once,
// unless that takes long.
const late = new Promise((resolve) => setTimeout(resolve, 400))
void Promise.race([router.load(), late]).then(() =>
  createRoot(document.getElementById('root')!).render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={variables} defaultColorScheme="auto">
        <QueryClientProvider client={queries}>
          <ModalsProvider>
            <Notifications position="bottom-right" />
            <RouterProvider router={router} />
          </ModalsProvider>
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  ),
)
