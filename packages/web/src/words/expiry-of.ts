/** Content [from, to) of a DER element. */
interface Element {
  readonly tag: number
  readonly from: number
  readonly to: number
}

/** End of a PEM's first certificate, Unix milliseconds, or null. RFC 5280, 4.1: second in `validity`. */
export function expiryOf(pem: string): number | null {
  const [, base64] = /-----BEGIN CERTIFICATE-----([\s\S]*?)-----END/.exec(pem) ?? []
  if (base64 === undefined) return null
  const der = Uint8Array.from(atob(base64.replaceAll(/\s/g, '')), (char) => char.codePointAt(0) ?? 0)
  const content = childrenOf(der, elementAt(der, 0)).at(0)
  if (content === undefined) return null
  // Version [0] is optional; serial number, algorithm, issuer and validity follow.
  const fields = childrenOf(der, content).filter(({ tag }) => tag !== 0xa0)
  const validity = fields.at(3)
  const end = validity && childrenOf(der, validity).at(1)
  return end === undefined ? null : timeOf(der, end)
}

function elementAt(der: Uint8Array, at: number): Element {
  const [tag = 0, first = 0] = der.subarray(at, at + 2)
  if (first < 0x80) return { tag, from: at + 2, to: at + 2 + first }
  const many = first & 0x7f
  const length = der.subarray(at + 2, at + 2 + many).reduce((sum, byte) => sum * 256 + byte, 0)
  return { tag, from: at + 2 + many, to: at + 2 + many + length }
}

function childrenOf(der: Uint8Array, { from, to }: Element): readonly Element[] {
  const all: Element[] = []
  for (let at = from; at < Math.min(to, der.length); at = all.at(-1)?.to ?? to) all.push(elementAt(der, at))
  return all
}

const UTC_TIME = 0x17

/** "261126120000Z", or with a four-digit year. */
function timeOf(der: Uint8Array, { tag, from, to }: Element): number | null {
  const text = String.fromCodePoint(...der.subarray(from, to))
  const full = tag === UTC_TIME ? `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}${text}` : text
  const [, year, month, day, hours, minutes, seconds] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(full) ?? []
  return year === undefined ? null : Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`)
}
