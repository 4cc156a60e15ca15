interface Props {
  values: number[]
  width?: number
  height?: number
  color?: string
  label: string
}

/** Sparkline is the shape of a series without figures. */
export function Sparkline({ values, width = 96, height = 20, color = 'var(--accent)', label }: Props) {
  if (values.length < 2) return <svg width={width} height={height} role="img" aria-label={label} />
  const top = Math.max(...values, 1e-12)
  const x = (i: number) => (i / (values.length - 1)) * (width - 2) + 1
  const y = (v: number) => height - 2 - (v / top) * (height - 4)
  const line = values.map((v, i) => `${i === 0 ? 'M' : 'L'}${x(i).toFixed(1)} ${y(v).toFixed(1)}`).join('')
  return (
    <svg width={width} height={height} role="img" aria-label={label} style={{ display: 'block', maxWidth: '100%' }}>
      <path d={`${line}L${width - 1} ${height}L1 ${height}Z`} fill={color} opacity={0.12} />
      <path d={line} fill="none" stroke={color} strokeWidth={1.5} strokeLinejoin="round" />
    </svg>
  )
}
