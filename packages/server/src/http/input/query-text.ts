import { InvalidInput } from '../compile-validator.ts'

/** Refuses a query whose bytes are no UTF-8: "%ff" would become a literal name. Throws InvalidInput. */
export function refuseNoText(url: string): void {
  const start = url.indexOf('?')
  // Most queries have no escapes: checking that is cheaper than decoding.
  if (start === -1 || !url.includes('%', start)) return
  for (const pair of url.slice(start + 1).split('&')) {
    const [name = ''] = pair.split('=', 1)
    if (isText(pair)) continue
    const [field, place] = isText(name) ? [name, name] : [undefined, 'the query']
    const message = `${place}: is not percent-encoded UTF-8; a percent sign itself is %25`
    throw new InvalidInput([{ field, message }])
  }
}

function isText(part: string): boolean {
  try {
    decodeURIComponent(part)
    return true
  } catch {
    return false
  }
}
