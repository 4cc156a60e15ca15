// Figures as the dashboard shows them: always with their unit.

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

/** count is 18,412. */
export function count(n: number): string {
  return whole.format(n)
}

/** short is 412, 7.1 k, 25 M: three figures at most, for charts and cards. */
export function short(n: number): string {
  const steps: [number, string][] = [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
  ]
  for (const [size, unit] of steps) {
    // What would round up to 1,000 of the smaller unit takes the larger one.
    if (Math.abs(n) >= size * 0.9995) return `${figure(n / size)} ${unit}`
  }
  return figure(n)
}

function figure(n: number): string {
  const digits = Math.abs(n) >= 100 || Number.isInteger(n) ? 0 : 1
  return n.toFixed(digits).replace(/\.0$/, '')
}

/** money is $214.60, $0.118 or $0.0003: small amounts keep what matters. */
export function money(usd: number): string {
  const size = Math.abs(usd)
  const sign = usd < 0 ? '−' : ''
  if (size === 0) return '$0.00'
  if (size < 0.000001) return `${sign}< $0.000001`
  if (size >= 0.1) return sign + '$' + size.toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
  if (size >= 0.01 && Math.abs(size * 100 - Math.round(size * 100)) < 1e-9) return `${sign}$${size.toFixed(2)}`
  const digits = size >= 0.001 ? 3 : Math.min(6, -Math.floor(Math.log10(size)))
  return `${sign}$${size.toFixed(digits)}`
}

/** score is 12.0, as the threshold is written. */
export function score(n: number): string {
  return n.toFixed(1)
}

/** percent is 38 %; a share that is there is never shown as nothing. */
export function percent(part: number, of: number): string {
  if (of <= 0) return '0 %'
  const p = (part / of) * 100
  if (p > 0 && p < 0.1) return '< 0.1 %'
  return `${p < 10 && p > 0 ? p.toFixed(1).replace(/\.0$/, '') : Math.round(p)} %`
}

/** certain is 96 % or 99.9 %: a certainty, or a line for it. */
export function certain(percent: number): string {
  return `${percent.toFixed(1).replace(/\.0$/, '')} %`
}

/** signed is +14 or −3. */
export function signed(n: number): string {
  return (n < 0 ? '−' : '+') + count(Math.abs(n))
}

/** bytes is 36 KB. */
export function bytes(n: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  let i = 0
  while (n >= 1000 && i < units.length - 1) {
    n /= 1000
    i++
  }
  return `${figure(n)} ${units[i]}`
}

/** times counts a thing: 1 kill, 2 kills. */
export function times(n: number, one: string, many = one + 's'): string {
  return `${count(n)} ${n === 1 ? one : many}`
}
