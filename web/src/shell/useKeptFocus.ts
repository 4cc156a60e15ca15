import { useEffect } from 'react'

/** useKeptFocus keeps the focus where the reader was. What had it may go: a
 *  button that was pressed, a row that was read anew, a dialog whose button is
 *  no longer there. The focus is then on the nearest part of the page around it
 *  that is left, from where the next key goes on. */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: Element | undefined // what had the focus, dialogs included
    let around: Element[] = [] // what had it on the page, and all around it
    const note = (e: FocusEvent) => {
      const target = e.target as Element
      last = target
      if (target.closest('#content')) around = [target, ...ancestors(target)]
    }
    const keep = () => {
      if (document.activeElement !== document.body || !last || last.isConnected) return
      for (const left of around) {
        if (!left.isConnected || !(left instanceof HTMLElement)) continue
        left.focus({ preventScroll: true })
        if (document.activeElement === left) return
        left.tabIndex = -1 // it takes no focus by itself, or no longer
        left.focus({ preventScroll: true })
        return
      }
    }
    const observer = new MutationObserver(keep)
    observer.observe(document.body, { childList: true, subtree: true })
    document.addEventListener('focusin', note)
    return () => {
      observer.disconnect()
      document.removeEventListener('focusin', note)
    }
  }, [])
}

function ancestors(of: Element): Element[] {
  const found: Element[] = []
  for (let e = of.parentElement; e && e !== document.body; e = e.parentElement) found.push(e)
  return found
}
