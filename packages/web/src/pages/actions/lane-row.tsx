import { sayLength } from '@fairlead/api'
import { Glyph, type GlyphName } from '../../parts/glyph.tsx'
import { known } from '../../words/certificate-text.ts'
import { failureOf, hasBegun, type Lane } from '../../words/fold-steps.ts'
import { bytes } from '../../words/format.ts'
import type { LaneProps } from './lane-view.tsx'

const glyphs: Readonly<Record<Lane['state'], GlyphName>> = {
  running: 'changing',
  waiting: 'queued',
  stuck: 'stuck',
  done: 'done',
}
const tones: Readonly<Record<Lane['state'], string>> = {
  running: 'busy',
  waiting: 'quiet',
  stuck: 'bad',
  done: 'ok',
}

/** A group of many in one line. */
export function LaneRow({ lane, certificates, told }: LaneProps) {
  const { group, state, steps, waiting, handed_over: moved, lag_bytes: lag } = lane
  const certificate = certificates.at(-1)
  // Does not repeat the headline for each group.
  const waits = waiting?.why === told && moved ? 'handed over' : waiting?.why
  const failed = state === 'done' ? failureOf(lane) : undefined
  const end = failed === undefined ? 'done' : `failed: ${failed.label}`
  const rest = state === 'done' ? end : hasBegun(lane) ? '' : 'not begun'
  const now = steps.find((step) => step.state === 'running')?.label ?? waits ?? rest
  // The sign of a handover, like in the steps: the sign for waiting would look like not begun.
  const isMoved = moved && state === 'waiting'
  return (
    <li className="lane-row" data-tone={failed !== undefined ? 'bad' : isMoved ? 'ok' : tones[state]}>
      <Glyph name={failed !== undefined ? 'failed' : isMoved ? 'diamond' : glyphs[state]} />
      <span className="lane-group">Group {group}</span>
      <span className="lane-now">{now}</span>
      <span className="number">
        {moved && certificate !== undefined ? known(certificate.write_stop_ms, sayLength) : ''}
      </span>
      {/* Left-aligned, because right-aligned text would move with each number. */}
      <span className="tabular muted">{lag === null || !hasBegun(lane) ? '' : `${bytes(lag)} behind`}</span>
    </li>
  )
}
