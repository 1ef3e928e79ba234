import { withoutOrders } from '../parts/start-part.ts'

/** Writes what the server has said to stdout, where a terminal may be: the server may be another user than the operator, who may be root. */
export function say(text: string): void {
  process.stdout.write(withoutOrders(text))
}
