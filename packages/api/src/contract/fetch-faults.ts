/**
 * Reasons for a failed fetch of an engine build. `bad_request`: unknown engine or version; `no_apt`: the
 * machine has no apt or no Debian archive; `suite_gone`: the archive does not have the suite (any more).
 */
export const fetchFaults = [
  'bad_request',
  'no_apt',
  'unreachable',
  'unsigned',
  'suite_gone',
  'damaged',
  'disk_full',
  'does_not_start',
  'failed',
] as const

/** States of a fetch. */
export const fetchStates = ['running', 'done', 'failed'] as const

/** A version to fetch: "8", "8.1" or "8.1.1". */
export const FETCHED_VERSION = '^\\d{1,4}(\\.\\d{1,4}){0,2}$'
