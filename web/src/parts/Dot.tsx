/** Dot is a mark beside a word that says the same. */
export function Dot({ color }: { color: 'red' | 'amber' | 'green' | 'gray' | 'accent' }) {
  const fill = color === 'accent' ? 'var(--accent)' : `var(--${color}-fill)`
  return (
    <span
      aria-hidden="true"
      style={{ display: 'inline-block', width: 8, height: 8, borderRadius: 4, background: fill, flex: 'none' }}
    />
  )
}
