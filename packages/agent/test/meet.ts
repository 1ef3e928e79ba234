import type { EngineConnection } from '@fairlead/engine'
import { until } from './agent-home.ts'

const MEET_AGAIN_MS = 8_000

/**
 * Introduces engines in cluster mode to one of them, until `haveMet` is true: an engine forgets a greeting
 * that is not answered within its node timeout, as on a machine under load, and does not repeat it.
 */
export async function meet(
  admin: EngineConnection,
  others: readonly { readonly host: string; readonly port: number }[],
  haveMet: () => Promise<boolean>,
): Promise<void> {
  let metMs = Number.NEGATIVE_INFINITY
  await until(async () => {
    if (performance.now() - metMs > MEET_AGAIN_MS) {
      for (const { host, port } of others) await admin.call('CLUSTER', 'MEET', host, port)
      metMs = performance.now()
    }
    return await haveMet()
  })
}
