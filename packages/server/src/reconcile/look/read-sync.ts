import { type InfoFields, numberOf } from '@fairlead/engine'
import type { EngineState } from '../../core/state/topology.ts'

/**
 * How much of a full sync has arrived, in bytes. Engines report it since redis 7.0. A primary that sends its data as it reads them announces no
 * size: then `total` is null.
 */
export function readSync(fields: InfoFields): NonNullable<EngineState['sync']> | null {
  if (fields['master_sync_read_bytes'] === undefined) return null
  const [done, total] = ['read', 'total'].map((name) => numberOf(fields, `master_sync_${name}_bytes`))
  return { done: done ?? 0, total: total !== undefined && total > 0 ? total : null }
}
