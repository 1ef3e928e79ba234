import { withoutOrders } from '../output/without-orders.ts'

/**
 * Writes an answer to stdout, safely for a terminal: the server may run as another user than the operator,
 * who may be root.
 */
export function say(text: string): void {
  process.stdout.write(withoutOrders(text))
}
