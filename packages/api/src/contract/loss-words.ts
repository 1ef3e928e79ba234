/** Records by which acknowledged writes may be lost, with their words for people. */
export const lossWords = {
  bdb_primary_replaced: 'primary replaced',
  bdb_primary_lost_memory: 'primary restarted',
  bdb_handover_lost_writes: 'writes lost in a handover',
} as const
/** Type of such a record. */
export type LossType = keyof typeof lossWords

/** Returns whether a record's type is that of a possible loss. */
export function isLoss(type: string): type is LossType {
  return Object.hasOwn(lossWords, type)
}
