/**
 * Matches a pattern of PSUBSCRIBE: `*` any text, `?` any character, `[a-c]` and `[^a]` classes, `\` escapes.
 * Time is at most the product of both lengths.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  const steps = readPattern(pattern)
  /** Steps of the pattern that the text read so far may have reached. */
  let places = skipStars(steps, new Set([0]))
  for (const character of text) {
    const next = new Set<number>()
    for (const place of places) {
      const step = steps[place]
      if (step === '*') next.add(place)
      else if (step?.(character)) next.add(place + 1)
    }
    places = skipStars(steps, next)
  }
  return places.has(steps.length)
}

type Step = '*' | ((character: string) => boolean)

/** Adds the steps after stars: a star may match an empty text. */
function skipStars(steps: readonly Step[], places: Set<number>): Set<number> {
  // The loop also visits elements that it adds.
  for (const place of places) if (steps[place] === '*') places.add(place + 1)
  return places
}

function readPattern(pattern: string): readonly Step[] {
  const steps: Step[] = []
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at]
    if (character === '*') steps.push('*')
    else if (character === '?') steps.push(() => true)
    else if (character === '[') {
      const end = pattern.indexOf(']', at)
      const to = end < 0 ? pattern.length : end
      steps.push(readClass(pattern.slice(at + 1, to)))
      at = to
    } else {
      if (character === '\\' && at + 1 < pattern.length) at += 1
      const wanted = pattern[at]
      steps.push((given) => given === wanted)
    }
  }
  return steps
}

function readClass(text: string): Step {
  const isNegated = text.startsWith('^')
  const ranges = [...text.slice(isNegated ? 1 : 0).matchAll(/(?:\\)?(.)(?:-(.))?/gsu)].map(
    ([, from = '', to = from]) => (from <= to ? [from, to] : [to, from]),
  )
  return (given) => ranges.some(([from = '', to = '']) => given >= from && given <= to) !== isNegated
}
