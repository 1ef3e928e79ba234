/** Control characters except line feeds and tabs; and those that reverse text or break lines invisibly. */
const orders = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** Replaces every character that a terminal obeys with a question mark. */
export function withoutOrders(text: string): string {
  return text.replaceAll(orders, '?')
}

/** JSON of the same value with these characters escaped. */
export function asJson(value: unknown, indent?: number): string {
  const code = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value, null, indent).replaceAll(orders, code)
}

/** Keeps foreign text from starting a new line. */
export function inOneLine(text: string): string {
  return withoutOrders(text.replaceAll(/[\t\n\r]+/g, ' '))
}
