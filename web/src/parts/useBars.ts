import { type KeyboardEvent, useState } from 'react'

interface Bars {
  label: string
  /** how many there are */
  n: number
  /** what a bar says */
  says: (i: number) => string
  /** left out where a bar leads nowhere */
  onOpen?: (i: number) => void
}

/** useBars makes the bars of a chart one stop of the keyboard: the arrows go
 *  from bar to bar, Enter opens one. `at` is the bar to mark. */
export function useBars({ label, n, says, onOpen }: Bars) {
  const [chosen, choose] = useState<number>()
  const [focused, setFocused] = useState(false)
  const at = Math.min(chosen ?? n - 1, n - 1)
  const onKeyDown = (e: KeyboardEvent) => {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: n - 1 }[e.key]
    if (to !== undefined) choose(Math.max(0, Math.min(to, n - 1)))
    else if (onOpen && (e.key === 'Enter' || e.key === ' ')) onOpen(at)
    else return
    e.preventDefault()
  }
  return {
    at: focused ? at : undefined,
    props: {
      role: 'slider',
      tabIndex: 0,
      'aria-label': `${label}: arrows choose a bar${onOpen ? ', Enter opens it' : ''}`,
      'aria-valuemin': 1,
      'aria-valuemax': n,
      'aria-valuenow': at + 1,
      'aria-valuetext': n > 0 ? says(at) : '',
      onKeyDown,
      onFocus: () => setFocused(true),
      onBlur: () => setFocused(false),
    },
  } as const
}
