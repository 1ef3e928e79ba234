import { type Action, sayLength } from '@fairlead/api'
import { useState } from 'react'
import { useNow } from '../../live/clock.ts'
import { Glyph, type GlyphName } from '../../parts/glyph.tsx'
import { Card } from '../../parts/page.tsx'
import { known } from '../../words/certificate-text.ts'
import { failureOf, hasBegun, type Lane } from '../../words/fold-steps.ts'
import { bytes, plural } from '../../words/format.ts'
import { timeLineOf } from '../../words/time-line.ts'
import { type LaneProps, LaneView } from './lane-view.tsx'

/** More groups get one line each. */
const MOST_IN_FULL = 8

/** Past, present and future steps of each group. The groups keep their order. */
export function Lanes({ action }: { readonly action: Action }) {
  const [isOpenOnly, showOpenOnly] = useState(false)
  const { lanes = [] } = action
  const told = action.waiting?.why
  const isLong = lanes.length > MOST_IN_FULL
  const shown = isOpenOnly ? lanes.filter(({ state }) => state !== 'done') : lanes
  return (
    <Card
      title={lanes.length === 1 ? 'Steps' : plural(lanes.length, 'group')}
      beside={
        isLong && (
          <label className="check">
            <input
              type="checkbox"
              checked={isOpenOnly}
              onChange={(event) => showOpenOnly(event.target.checked)}
            />{' '}
            Not done only
          </label>
        )
      }
    >
      {isLong ? (
        <ol className="lane-rows">
          {shown.map((lane) => (
            <LaneRow key={lane.group} {...{ lane, told }} certificates={certificatesOf(lane, action)} />
          ))}
        </ol>
      ) : (
        <LanesInFull lanes={lanes} action={action} />
      )}
    </Card>
  )
}

/** Few groups, on one time line. */
function LanesInFull({ lanes, action }: { readonly lanes: readonly Lane[]; readonly action: Action }) {
  const line = timeLineOf(lanes, useNow())
  return (
    <ol className="lanes">
      {lanes.map((lane) => (
        <LaneView
          key={lane.group}
          {...{ lane, line }}
          told={action.waiting?.why}
          certificates={certificatesOf(lane, action)}
          isAlone={lanes.length === 1}
        />
      ))}
    </ol>
  )
}

function certificatesOf({ group }: Lane, { certificates }: Action): Action['certificates'] {
  return certificates.filter((certificate) => certificate.group === group)
}

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
function LaneRow({ lane, certificates, told }: Omit<LaneProps, 'line'>) {
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
