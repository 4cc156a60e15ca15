import { Kbd, Text } from '@mantine/core'
import { Combobox, TextInput, useCombobox } from '@mantine/core'
import { useDebouncedValue, useHotkeys } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { api, read } from '../api/client'
import classes from './shell.module.css'

const each = 6

/** Search finds agents, sessions and incidents by part of their id. */
export function Search() {
  const input = useRef<HTMLInputElement>(null)
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() })
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text.trim(), 200)
  const navigate = useNavigate()
  useHotkeys([['/', () => input.current?.focus()]])

  const { data } = useQuery({
    queryKey: ['search', search],
    enabled: search !== '',
    queryFn: async () => {
      const query = { search, limit: each }
      const [agents, sessions, incidents] = await Promise.all([
        read(api.GET('/v1/agents', { params: { query } })),
        read(api.GET('/v1/sessions', { params: { query } })),
        read(api.GET('/v1/incidents', { params: { query } })),
      ])
      return { agents: agents.agents, sessions: sessions.sessions, incidents: incidents.incidents }
    },
  })

  // An option's value is its place: ids may hold any character.
  const go = (place: string) => {
    const [kind, index] = place.split(' ')
    const agent = kind === 'agent' ? data?.agents[Number(index)] : undefined
    const session = kind === 'session' ? data?.sessions[Number(index)] : undefined
    const incident = kind === 'incident' ? data?.incidents[Number(index)] : undefined
    combobox.closeDropdown()
    setText('')
    input.current?.blur()
    if (agent) void navigate({ to: '/agents/$id', params: { id: agent.id } })
    if (incident) void navigate({ to: '/incidents/$id', params: { id: incident.id } })
    if (session) void navigate({ to: '/agents/$id/sessions/$session', params: { id: session.agent, session: session.id } })
  }

  const found = search !== '' && search === text.trim() && data
  // Who presses Enter before the hits are there goes to the first once they are.
  const [entered, setEntered] = useState('')
  useEffect(() => {
    if (!found || entered !== search) return
    setEntered('')
    const kind = data.agents.length > 0 ? 'agent' : data.sessions.length > 0 ? 'session' : data.incidents.length > 0 ? 'incident' : undefined
    if (kind) go(`${kind} 0`)
  }, [found, entered])
  // Enter opens the first hit, unless another was chosen by the arrows.
  useEffect(() => {
    if (found) combobox.selectFirstOption()
  }, [found])
  return (
    <Combobox store={combobox} onOptionSubmit={go} shadow="md" keepMounted={false}>
      <Combobox.Target>
        <TextInput
          ref={input}
          className={classes.search}
          aria-label="Search agents, sessions and incidents"
          placeholder="Search agents, incidents…"
          leftSection={<IconSearch size={14} />}
          rightSection={<Kbd size="xs">/</Kbd>}
          value={text}
          onChange={(e) => {
            setText(e.currentTarget.value)
            combobox.openDropdown()
            combobox.resetSelectedOption()
          }}
          onKeyDown={(e) => {
            if (e.key === 'Enter' && !found) setEntered(text.trim())
          }}
          onFocus={() => combobox.openDropdown()}
          onBlur={() => combobox.closeDropdown()}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={!found}>
        {found && (
          <Combobox.Options mah={400} style={{ overflowY: 'auto' }}>
            {data.agents.length + data.sessions.length + data.incidents.length === 0 && <Combobox.Empty>No matches.</Combobox.Empty>}
            {data.agents.length > 0 && (
              <Combobox.Group label="Agents">
                {data.agents.map((a, i) => (
                  <Combobox.Option key={a.id} value={`agent ${i}`}>
                    {a.id}
                  </Combobox.Option>
                ))}
              </Combobox.Group>
            )}
            {data.sessions.length > 0 && (
              <Combobox.Group label="Sessions">
                {data.sessions.map((s, i) => (
                  <Combobox.Option key={`${s.agent}/${s.id}`} value={`session ${i}`}>
                    <span className="clip" style={{ display: 'block' }}>{s.id}</span>
                    <Text size="xs" c="dimmed">
                      {s.agent}
                    </Text>
                  </Combobox.Option>
                ))}
              </Combobox.Group>
            )}
            {data.incidents.length > 0 && (
              <Combobox.Group label="Incidents">
                {data.incidents.map((i, n) => (
                  <Combobox.Option key={i.id} value={`incident ${n}`}>
                    <span className="clip" style={{ display: 'block' }}>
                      <bdi>{i.sentence}</bdi>
                    </span>
                    <Text size="xs" c="dimmed">
                      {i.id}
                    </Text>
                  </Combobox.Option>
                ))}
              </Combobox.Group>
            )}
          </Combobox.Options>
        )}
      </Combobox.Dropdown>
    </Combobox>
  )
}
