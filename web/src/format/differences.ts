// What two texts have in common, word by word.

export interface Run {
  text: string
  /** not in the other text at this place */
  differs: boolean
}

// A word or a sign, with the space that follows it.
const words = /(?:[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s])\s*|\s+/gu

// How many pairs of words are compared at most; what is beyond counts as
// different.
const mostPairs = 4_000_000

/** differences cuts two texts into runs that are the same in both and runs
 *  that are not. White space does not count. */
export function differences(a: string, b: string): [Run[], Run[]] {
  const left = a.match(words) ?? []
  const right = b.match(words) ?? []
  const keysA = left.map((w) => w.trim())
  const keysB = right.map((w) => w.trim())
  let start = 0
  while (start < left.length && start < right.length && keysA[start] === keysB[start]) start++
  let end = 0
  while (end < left.length - start && end < right.length - start && keysA.at(-1 - end) === keysB.at(-1 - end)) end++
  const middleA = keysA.slice(start, left.length - end)
  const middleB = keysB.slice(start, right.length - end)
  const [sameA, sameB] = common(middleA, middleB)
  const differsIn = (same: boolean[], i: number) => i >= start && i < start + same.length && !same[i - start]
  return [runs(left, (i) => differsIn(sameA, i)), runs(right, (i) => differsIn(sameB, i))]
}

// common marks the longest sequence of words that stand in both lists in the
// same order.
function common(a: string[], b: string[]): [boolean[], boolean[]] {
  const inA = a.map(() => false)
  const inB = b.map(() => false)
  if (a.length * b.length > mostPairs) return [inA, inB]
  const width = b.length + 1
  const longest = new Uint16Array((a.length + 1) * width) // from i and j on
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const at = i * width + j
      longest[at] = a[i] === b[j] ? longest[at + width + 1]! + 1 : Math.max(longest[at + width]!, longest[at + 1]!)
    }
  }
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const at = i * width + j
    if (a[i] === b[j]) inA[i++] = inB[j++] = true
    else if (longest[at + width]! >= longest[at + 1]!) i++
    else j++
  }
  return [inA, inB]
}

function runs(list: string[], differs: (i: number) => boolean): Run[] {
  const joined: Run[] = []
  list.forEach((text, i) => {
    const last = joined.at(-1)
    if (last?.differs === differs(i)) last.text += text
    else joined.push({ text, differs: differs(i) })
  })
  return joined
}
