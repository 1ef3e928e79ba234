/** Control characters except line ends and tabs; and those that turn the order of what follows around, or break a line where programs see none. */
const orders = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** The text without what a terminal takes for an order: each such character is a question mark. */
export function withoutOrders(text: string): string {
  return text.replaceAll(orders, '?')
}

/** JSON that is the same value, and has no such character in it. */
export function asJson(value: unknown, indent?: number): string {
  const code = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value, null, indent).replaceAll(orders, code)
}

/** Text of others that must not begin a line of its own. */
export function inOneLine(text: string): string {
  return withoutOrders(text.replaceAll(/[\t\n\r]+/g, ' '))
}
