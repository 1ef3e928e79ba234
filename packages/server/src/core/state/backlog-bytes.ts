/** At 20,000 small writes a second this holds 24 s. */
export const LEAST_BACKLOG_BYTES = 64 * 1024 * 1024

/**
 * The backlog that lets a replica resume after its restart: twice what is written during one. Measured on a GiB: 5 to
 * 10 s to save, 2 to 3 s to load; a restart without data takes less than a second.
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
