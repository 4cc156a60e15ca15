/** Logo is the octagon of a stop sign with a pause in it. */
export function Logo({ size = 24 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      <path fill="var(--accent)" d="M7.4 1h9.2L23 7.4v9.2L16.6 23H7.4L1 16.6V7.4z" />
      <path fill="var(--on-accent)" d="M8.2 7h2.6v10H8.2zM13.2 7h2.6v10h-2.6z" />
    </svg>
  )
}
