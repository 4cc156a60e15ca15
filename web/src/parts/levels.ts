/** levelsOf are round figures from zero to the first that is not below the
 *  most, for the lines of a chart; none is closer to the next than least. */
export function levelsOf(most: number, least = 0): number[] {
  const size = 10 ** Math.floor(Math.log10(most > 0 ? most : 1))
  const step = [size / 2, size, size * 2].find((s) => s >= least && most / s <= 4) ?? size * 5
  return Array.from({ length: Math.max(Math.ceil(most / step), 1) + 1 }, (_, i) => i * step)
}
