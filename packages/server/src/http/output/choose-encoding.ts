/** Compression of an answer. */
export type Encoding = 'br' | 'gzip'

/** In order of preference. */
const offered: readonly Encoding[] = ['br', 'gzip']

/**
 * The client's preferred encoding by `Accept-Encoding` (RFC 9110, 12.5.3); undefined: no compression.
 * Unreadable parts are ignored.
 */
export function chooseEncoding(header: string | readonly string[] | undefined): Encoding | undefined {
  if (header === undefined) return undefined
  const weights = new Map<string, number>()
  for (const part of [header].flat().join(',').slice(0, LONGEST).split(',')) {
    const [name = '', ...parameters] = part.split(';').map((word) => word.trim().toLowerCase())
    const quality = parameters.find((word) => word.startsWith('q='))?.slice(2)
    const weight =
      quality === undefined ? 1 : /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(quality) ? Number(quality) : 0
    weights.set(name === 'x-gzip' ? 'gzip' : name, weight)
  }
  const weightOf = (name: Encoding) => weights.get(name) ?? weights.get('*') ?? 0
  const best = offered.toSorted((a, b) => weightOf(b) - weightOf(a))[0]
  if (best === undefined || weightOf(best) === 0) return undefined
  return weightOf(best) >= (weights.get('identity') ?? 0) ? best : undefined
}

/** No meaningful header is longer. */
const LONGEST = 1_024
