/** The text without control characters, except line ends and tabs. */
export function withoutOrders(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, '?')
}
