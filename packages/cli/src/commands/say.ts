import { withoutOrders } from '../output/without-orders.ts'

/** Writes an answer of the server to stdout, which may be a terminal: the server may run as another user than the operator, which may be root. */
export function say(text: string): void {
  process.stdout.write(withoutOrders(text))
}
