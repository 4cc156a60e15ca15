import { Group, SegmentedControl, Text, TextInput } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { IconChevronRight, IconSearch } from '@tabler/icons-react'
import { useMemo, useState } from 'react'
import { longest } from '../../api/events'
import type { Event } from '../../api/shapes'
import { verdictOf } from '../../api/verdict'
import { certain, money, short, times } from '../../format/figures'
import { clock } from '../../format/time'
import { visible } from '../../format/visible'
import { Empty } from '../../parts/Empty'
import { EventDrawer } from '../../parts/EventDrawer'
import { Section } from '../../parts/Section'
import type { Scene } from '../incident/scene'
import { actOf, found, type Line, linesOf, repeatedOf, resultOf, type Said } from './lines'
import classes from './session.module.css'

const heights = { wide: 49, narrow: 65 }
const inView = 40
const around = 20
const before = 3

interface Props {
  calls: Event[]
  whole: boolean
  scene: Scene | undefined
  /** what was said in the rounds that repeat, by their letters */
  said: Map<string, Said>
  shown: Shown
  onShow: (change: Shown) => void
}

/** Shown is which calls the address asks for. */
export interface Shown {
  /** what is looked for in the calls */
  find?: string
  calls?: 'repeated'
}

/** Waterfall is the calls of a session in the order of time. What came before
 *  the repetition is folded, unless something is looked for. */
export function Waterfall({ calls, whole, scene, said, shown: asked, onShow }: Props) {
  const { find = '' } = asked
  const lines = useMemo(() => linesOf(calls, scene, said), [calls, scene, said])
  const repeated = repeatedOf(lines)
  const from = lines.findIndex((l) => l.repeated)
  const foldable = from - before > 10 ? from - before : 0
  const [unfolded, unfold] = useState(false)
  const [open, setOpen] = useState<string>()
  const only = asked.calls === 'repeated' && repeated.length > 0 ? 'repeated' : 'all'
  const folds = only === 'all' && !unfolded && foldable > 0 && find.trim() === ''
  const shown = found(only === 'repeated' ? repeated : folds ? lines.slice(foldable) : lines, find)
  const at = shown.findIndex((l) => l.event.id === open)
  const move = (by: 1 | -1) => {
    const next = shown[at + by]
    if (next) setOpen(next.event.id)
  }
  return (
    <Section
      title="Calls"
      aside={whole ? undefined : `the newest ${longest.toLocaleString('en-US')} or so; numbers begin there`}
      actions={
        <Group gap="md">
          <Legend />
          {lines.length > 0 && (
            <TextInput
              size="xs"
              w={200}
              aria-label="Find in these calls"
              placeholder="Tool, result, status, #12"
              leftSection={<IconSearch size={14} />}
              value={find}
              onChange={(e) => onShow({ find: e.currentTarget.value || undefined })}
            />
          )}
          {repeated.length > 0 && (
            <SegmentedControl
              aria-label="Calls shown"
              size="xs"
              value={only}
              onChange={(v) => onShow({ calls: v === 'repeated' ? v : undefined })}
              data={[
                { value: 'all', label: `All ${lines.length}` },
                { value: 'repeated', label: `Repeated ${repeated.length}` },
              ]}
            />
          )}
        </Group>
      }
    >
      {lines.length === 0 && <Empty title="No calls of this session are kept" />}
      {lines.length > 0 && (
        <>
          <Head shown={shown} />
          {find.trim() !== '' && (
            <Text size="xs" c="dimmed" py={4} role="status">
              {shown.length === 0 ? 'No matches.' : `${times(shown.length, 'call')} of ${lines.length}`}
            </Text>
          )}
          {folds && <Fold folded={lines.slice(0, foldable)} onOpen={() => unfold(true)} />}
          <Rows lines={shown} open={open} onOpen={setOpen} />
        </>
      )}
      <EventDrawer event={shown[at]?.event} title={at >= 0 ? `Call #${shown[at]!.number}` : undefined} onClose={() => setOpen(undefined)} onMove={move} />
    </Section>
  )
}

function Rows({ lines, open, onOpen }: { lines: Line[]; open: string | undefined; onOpen: (id: string) => void }) {
  // Only the rows in view are drawn, and some around them: a session may have
  // thousands.
  const [top, setTop] = useState(0)
  const rowHeight = useMediaQuery('(max-width: 62em)') ? heights.narrow : heights.wide
  const first = Math.max(Math.floor(top / rowHeight) - around, 0)
  const drawn = lines.slice(first, first + inView + 2 * around)
  const begin = new Date(lines[0]?.event.time ?? 0).getTime()
  const end = Math.max(...lines.map((l) => new Date(l.event.time).getTime() + l.event.latency_ms), begin + 1)
  const most = Math.max(...lines.map((l) => l.event.tokens.input), 1)
  return (
    <div className={classes.scroll} onScroll={(e) => setTop(e.currentTarget.scrollTop)}>
      <div style={{ height: lines.length * rowHeight, position: 'relative' }}>
        {drawn.map((line, i) => (
          <button
            key={line.event.id}
            type="button"
            className={classes.row}
            style={{ top: (first + i) * rowHeight, height: rowHeight }}
            data-state={line.stopped ? 'stopped' : line.repeated ? 'repeated' : undefined}
            data-open={line.event.id === open}
            onClick={() => onOpen(line.event.id)}
          >
            <Cells line={line} begin={begin} end={end} most={most} />
          </button>
        ))}
      </div>
    </div>
  )
}

function Cells({ line, begin, end, most }: { line: Line; begin: number; end: number; most: number }) {
  const { event: e } = line
  const { certainty } = verdictOf(e)
  const at = (ms: number) => `${((ms - begin) / (end - begin)) * 100}%`
  const start = new Date(e.time).getTime()
  const width = (ms: number) => `max(3px, ${(ms / (end - begin)) * 100}%)`
  return (
    <>
      <span className="muted">#{line.number}</span>
      <span>
        {line.letter && (
          <span className={classes.letter}>
            {line.letter}
            <sub>{line.times}</sub>
          </span>
        )}
      </span>
      <span style={{ minWidth: 0 }}>
        <Act line={line} />
        <span className={classes.narrow}>
          {[e.status > 0 && e.status, e.cost_usd > 0 && money(e.cost_usd)].filter(Boolean).join(' · ')}
        </span>
      </span>
      <span className={`${classes.lane} ${classes.wide}`}>
        <span style={{ left: at(start), width: width(e.first_byte_ms || e.latency_ms), background: 'var(--s1)' }} />
        {e.first_byte_ms > 0 && <span style={{ left: at(start + e.first_byte_ms), width: width(e.latency_ms - e.first_byte_ms), background: 'var(--s3)' }} />}
      </span>
      <span>
        {e.tokens.input > 0 && (
          <>
            <Group justify="space-between" gap={4} fz={12} wrap="nowrap">
              <span>{short(e.tokens.input)}</span>
              {line.grown !== undefined && <span className={`muted ${classes.wide}`}>{line.grown >= 0 ? '+' : '−'}{short(Math.abs(line.grown))}</span>}
            </Group>
            <div className={classes.bar}>
              <div style={{ width: `${(e.tokens.input / most) * 100}%` }} />
            </div>
          </>
        )}
      </span>
      <Text span inherit ta="right" className={classes.wide} c={e.status >= 400 ? 'var(--amber)' : 'dimmed'}>
        {e.status > 0 && e.status}
      </Text>
      <span className={classes.wide} style={{ textAlign: 'right' }}>
        {e.cost_usd > 0 && money(e.cost_usd)}
      </span>
      <Text span inherit ta="right" c={line.stopped ? 'var(--red)' : 'dimmed'} fw={line.stopped ? 600 : 400}>
        {certainty > 0 && certain(Math.round(certainty))}
      </Text>
    </>
  )
}

// Act is what was done, with which arguments where they are kept, and what came
// of it.
function Act({ line }: { line: Line }) {
  const result = resultOf(line)
  const sent = line.said?.arguments
  return (
    <>
      {line.stopped ? (
        <Text span inherit fw={600} c="var(--red)">
          {actOf(line)}
        </Text>
      ) : (
        <span className="mono clip" style={{ display: 'block' }} title={sent && visible(sent)}>
          <bdi>
            {actOf(line)} {sent && <span className="muted">{visible(sent)}</span>}
          </bdi>
        </span>
      )}
      {result && (
        <Text span size="xs" className="clip" display="block" c={line.repeated ? 'var(--amber)' : 'dimmed'} title={visible(result)}>
          <bdi>{visible(result)}</bdi>
        </Text>
      )}
    </>
  )
}

function Head({ shown }: { shown: Line[] }) {
  const first = shown[0]
  const last = shown[shown.length - 1]
  return (
    <div className={classes.head} aria-hidden="true">
      <span>Call</span>
      <span>Round</span>
      <span>Tool, result</span>
      <Group className={classes.wide} justify="space-between">
        <span>{first && clock(first.event.time)}</span>
        <span>{last && clock(last.event.time)}</span>
      </Group>
      <span>Tokens in</span>
      <span className={classes.wide} style={{ textAlign: 'right' }}>
        Status
      </span>
      <span className={classes.wide} style={{ textAlign: 'right' }}>
        Cost
      </span>
      <span style={{ textAlign: 'right' }}>Certainty</span>
    </div>
  )
}

function Fold({ folded, onOpen }: { folded: Line[]; onOpen: () => void }) {
  const cost = folded.reduce((sum, l) => sum + l.event.cost_usd, 0)
  return (
    <button type="button" className={classes.fold} onClick={onOpen}>
      <Group gap={6} component="span">
        <IconChevronRight size={14} aria-hidden="true" /> #1 to #{folded.length}, {times(folded.length, 'call')}, no repetition
      </Group>
      <span>
        {clock(folded[0]!.event.time)} to {clock(folded[folded.length - 1]!.event.time)} · {money(cost)}
      </span>
    </button>
  )
}

function Legend() {
  return (
    <Group gap="sm" fz={12} c="dimmed" className={classes.wide}>
      <span>
        <Swatch color="var(--s1)" /> to first byte
      </span>
      <span>
        <Swatch color="var(--s3)" /> reply
      </span>
    </Group>
  )
}

function Swatch({ color }: { color: string }) {
  return <span aria-hidden="true" style={{ display: 'inline-block', width: 8, height: 8, borderRadius: 2, background: color }} />
}
