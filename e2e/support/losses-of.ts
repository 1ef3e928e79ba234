import type { Fairlead } from '../../proof/start-fairlead.ts'

/** Losses of a database in the audit, the newest first: type and details of each record. */
export async function lossesOf({ api }: Fairlead, uid: number): Promise<readonly Record<string, unknown>[]> {
  const logs = await api.listLogs({ query: { order: 'desc', limit: 200 } })
  return logs
    .filter(({ type, bdb_uid }) => losses.includes(type) && bdb_uid === String(uid))
    .map(({ type, details }) => ({ type, ...details }))
}

const losses = ['bdb_primary_replaced', 'bdb_primary_lost_memory', 'bdb_handover_lost_writes']
