import { withoutOrders } from '../output/without-orders.ts'

/**
 * Writes an answer of the server to stdout, safely for a terminal: the server may run as another user than
 * the operator, even if that is root.
 */
export function say(text: string): void {
  process.stdout.write(withoutOrders(text))
}
