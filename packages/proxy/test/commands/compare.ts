import { type ParsedReply, parseReply } from '@fairlead/engine'
import type { Mark } from './row.ts'
import type { Transcript } from './run-rows.ts'

/** A step of a run whose reply differs from that of a single engine, compared by the marks of its row. */
export interface Difference {
  readonly asked: string
  readonly got: string
  readonly wanted: string
}

export function compareTranscripts(
  got: Transcript,
  wanted: Transcript,
  marks: ReadonlySet<Mark>,
): readonly Difference[] {
  return Array.from({ length: Math.max(got.length, wanted.length) }, (_, n) => ({
    asked: got[n]?.asked ?? wanted[n]?.asked ?? '',
    got: got[n]?.got ?? 'nothing',
    wanted: wanted[n]?.got ?? 'nothing',
  })).filter((step) => inTermsOf(step, step.got, marks) !== inTermsOf(step, step.wanted, marks))
}

/** The reply without the parts that may differ. */
function inTermsOf({ asked }: Pick<Difference, 'asked'>, reply: string, marks: ReadonlySet<Mark>): string {
  if (marks.has('kind')) return asked === 'EXEC' ? reply.slice(0, '*1\r\n$'.length) : reply.charAt(0)
  if (marks.has('numbers')) return reply.replaceAll(/\d+(\.\d+)?/g, '#')
  return marks.has('set') && /^[*~%]/.test(reply) ? reply.charAt(0) + sorted(readAll(reply)) : reply
}

function readAll(reply: string): ParsedReply {
  return parseReply(Buffer.from(reply, 'latin1'))
}

function sorted(value: ParsedReply): string {
  if (value === null || typeof value !== 'object' || 'error' in value) return JSON.stringify(value)
  return `[${value.map(sorted).toSorted().join()}]`
}
