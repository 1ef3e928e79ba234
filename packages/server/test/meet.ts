import type { EngineConnection } from '@fairlead/engine'
import { until } from '../../../proof/until.ts'

/** An engine forgets a greeting that is not answered within its node timeout, and does not repeat it. */
const AGAIN_MS = 8_000

/** Makes an engine in cluster mode greet another one, again and again, until `isMet`. */
export async function meet(
  one: EngineConnection,
  { address }: EngineConnection,
  isMet: () => Promise<boolean>,
): Promise<void> {
  let greetedMs = Number.NEGATIVE_INFINITY
  await until('they know each other', async () => {
    if (performance.now() - greetedMs > AGAIN_MS) {
      await one.call('CLUSTER', 'MEET', address.host, address.port)
      greetedMs = performance.now()
    }
    return isMet()
  })
}
