import type { Certificate } from '@fairlead/api'
import Table from 'cli-table3'
import type { Proof } from '../proof/upgrade-under-load.ts'

/** What the demo prints as JSON: the names are its contract. */
export interface Summary {
  readonly from: string
  readonly to: string
  readonly acked: number
  readonly lost: number
  readonly duplicated: number
  readonly errors: number
  readonly reconnects: number
  readonly full_syncs: number
  readonly write_stop_ms: Spread
  readonly client_gap_ms: Spread
  readonly seconds: number
}

interface Spread {
  readonly median: number
  readonly max: number
}

/** All passes together; the times over all handovers. */
export function summarize(proofs: readonly Proof[], seconds: number): Summary {
  const sum = (of: (proof: Proof) => number) => proofs.reduce((total, proof) => total + of(proof), 0)
  return {
    from: proofs[0]?.from ?? '',
    to: proofs[0]?.to ?? '',
    acked: sum(({ acked }) => acked),
    lost: sum(({ lost }) => lost),
    duplicated: sum(({ duplicated }) => duplicated),
    errors: sum(({ errors }) => errors),
    reconnects: sum(({ reconnects }) => reconnects),
    full_syncs: sum(({ fullSyncs }) => fullSyncs),
    write_stop_ms: spread(proofs.flatMap(({ writeStopsMs }) => writeStopsMs)),
    client_gap_ms: spread(proofs.flatMap(({ clientGapsMs }) => clientGapsMs)),
    seconds: Math.round(seconds * 10) / 10,
  }
}

/**
 * Median and longest value, in milliseconds with one digit. The median of an even number is the mean of the
 * two in the middle.
 */
export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  const median = ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2
  return { median: round(median), max: round(sorted.at(-1) ?? 0) }
}

/** Prints the result for people: the table, a certificate, and the next command. */
export function printResult(summary: Summary, proofs: readonly Proof[]): string {
  const [certificate] = proofs.flatMap(({ certificates }) => certificates)
  return [
    printTable(summary),
    ...(certificate === undefined ? [] : [printCertificate(certificate)]),
    NEXT,
  ].join('\n')
}

/** Explains the numbers, and names the next command. */
const NEXT = `The machine's load lengthens the gap: engines, clients and Fairlead share its cores.
Next: npm start, and in a second terminal: npm run -s fairlead -- databases create carts --engine redis-7.0 --memory 100MiB
`

/** The first certificate, with the fields that people read. */
function printCertificate(certificate: Certificate): string {
  const { from, to, offset_from, offset_to, keys, write_stop_ms, longest_wait_ms, at } = certificate
  const table = new Table({ style: { head: [], border: [] } })
  table.push(
    ['certificate of the first handover', at],
    ['primary', `shard ${from} → shard ${to}`],
    ['replication offsets', `${offset_from} ${offset_from === offset_to ? '=' : '≠'} ${offset_to}`],
    ['keys of both', keys?.toLocaleString('en')],
    ['write stop', `${write_stop_ms} ms`],
    ['longest wait of a client', `${longest_wait_ms} ms`],
  )
  return `${table.toString()}\n`
}

function printTable(summary: Summary): string {
  const ms = ({ median, max }: Spread) => `${median} ms median, ${max} ms longest`
  const table = new Table({ style: { head: [], border: [] } })
  table.push(
    ['engine', `${summary.from} → ${summary.to}`],
    ['acknowledged writes', summary.acked.toLocaleString('en')],
    ['lost', summary.lost],
    ['executed twice', summary.duplicated],
    ['client errors', summary.errors],
    ['client reconnects', summary.reconnects],
    ['full syncs besides the first', summary.full_syncs],
    ['write stop', ms(summary.write_stop_ms)],
    ['gap that clients saw', ms(summary.client_gap_ms)],
    ['seconds', summary.seconds],
  )
  return `${table.toString()}\n`
}

function round(ms: number): number {
  return Math.round(ms * 10) / 10
}
