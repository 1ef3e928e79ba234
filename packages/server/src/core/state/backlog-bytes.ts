/** Holds 24 s of 20,000 small writes per second. */
export const LEAST_BACKLOG_BYTES = 64 * 1024 * 1024

/**
 * Returns the backlog with which a replica can resume after its restart: twice the writes during one.
 * Measured per GiB: 5 to 10 s to save, 2 to 3 s to load; a restart without data takes less than a second.
 */
export function backlogBytes({
  writtenPerSecond,
  dataBytes,
}: {
  readonly writtenPerSecond: number
  readonly dataBytes: number
}): number {
  const restartSeconds = 1 + dataBytes / (80 * 1024 * 1024)
  return Math.max(LEAST_BACKLOG_BYTES, Math.ceil(writtenPerSecond * restartSeconds * 2))
}
