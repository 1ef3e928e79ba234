/*
 * Names and meanings of a handover's lengths, for the command line, the console and its Markdown, as in
 * docs/reference/certificates.md and docs/glossary.md.
 */

/** The lengths of a handover. If only one is shown, it is the write stop. */
export const handoverLengths = {
  write_stop: { label: 'Write stop', meaning: 'no shard of the group took writes' },
  longest_wait: {
    label: 'Longest wait',
    meaning: 'of a client at the endpoint, from its request until the answer began',
  },
  hold: {
    label: 'Hold',
    meaning:
      'the endpoint kept back requests: from before the write stop until they went on to the new primary',
  },
  whole: {
    label: 'Whole handover',
    meaning: 'from the order to hold clients until they went on: all parts together',
  },
} as const

/** Formats a measured length: "2.9 ms". All have one decimal, so that they add up. Milliseconds. */
export function sayLength(ms: number): string {
  return ms > 0 && ms < 0.05 ? '< 0.1 ms' : `${ms.toFixed(1)} ms`
}

/** The source of a planned write stop, for the API, the command line and the console. */
export const sourceOfWriteStop =
  'estimated from measurements on an idle machine; there is no bound, and a busy machine takes longer'
