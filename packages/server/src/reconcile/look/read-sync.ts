import { type InfoFields, numberOf } from '@fairlead/engine'
import type { EngineState } from '../../core/state/topology.ts'

/**
 * Reads the received bytes of a full sync (since Redis 7.0). `total` is null if the primary streams its data
 * without announcing a size.
 */
export function readSync(fields: InfoFields): NonNullable<EngineState['sync']> | null {
  if (fields['master_sync_read_bytes'] === undefined) return null
  const [done, total] = ['read', 'total'].map((name) => numberOf(fields, `master_sync_${name}_bytes`))
  return { done: done ?? 0, total: total !== undefined && total > 0 ? total : null }
}
