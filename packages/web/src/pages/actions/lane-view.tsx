import type { Action, Certificate } from '@fairlead/api'
import { Glyph, type GlyphName } from '../../parts/glyph.tsx'
import { stopOf } from '../../words/certificate-text.ts'
import { foldSteps, hasBegun, type Lane, type Step } from '../../words/fold-steps.ts'
import { bytes, duration } from '../../words/format.ts'
import type { TimeLine } from '../../words/time-line.ts'
import { WaitReason } from './headline.tsx'

/** Data of a group's line. */
export interface LaneProps {
  readonly lane: Lane
  /** Certificates of its handovers. */
  readonly certificates: readonly Certificate[]
  /** The text of the headline. */
  readonly told: string | undefined
  /** The scale of all groups. */
  readonly line: TimeLine
}

const glyphs: Readonly<Record<Step['state'], GlyphName>> = {
  done: 'done',
  running: 'changing',
  planned: 'planned',
  left: 'back',
  failed: 'failed',
}
const words: Readonly<Record<Step['state'], string>> = {
  done: 'done',
  running: 'being done',
  planned: 'to come',
  left: 'not finished',
  failed: 'failed',
}

/** A group in full: its steps in a row, their times, and its wait at a fixed place below. */
export function LaneView({
  lane,
  certificates,
  told,
  line,
  isAlone,
}: LaneProps & { readonly isAlone: boolean }) {
  const { group, state, waiting, sync, lag_bytes: lag } = lane
  return (
    <li className="lane">
      {!isAlone && <h3>Group {group}</h3>}
      <ol className="steps">
        {foldSteps(lane.steps).map((step) => (
          <StepNode
            key={step.key}
            step={step.step}
            stop={stopOf(step.step, certificates)}
            isStuck={state === 'stuck'}
          />
        ))}
      </ol>
      <Times lane={lane} line={line} />
      <p className="lane-why">
        {waiting !== null && waiting.why !== told && <WaitReason waiting={waiting} />}
        {sync !== null && <SyncProgress sync={sync} />}
        {waiting === null && sync === null && lag !== null && state !== 'done' && hasBegun(lane) && (
          <span className="muted">the follower that is furthest behind lacks {bytes(lag)}</span>
        )}
      </p>
    </li>
  )
}

/** When each step ran: as long as it took. */
function Times({ lane, line: { placesOf, ticks, cuts } }: Pick<LaneProps, 'lane' | 'line'>) {
  return (
    <div className="time-line" aria-hidden="true">
      <div className="time-track">
        {cuts.map(({ left, width, words: meaning }) => (
          <span
            key={left}
            data-state="cut"
            style={{ left: `${left}%`, width: `${width}%` }}
            title={meaning}
          />
        ))}
        {placesOf(lane).map(({ step, left, width, took }) => (
          <span
            key={`${step.op_name} ${step.shard} ${step.began}`}
            data-state={step.state}
            data-op={step.op_name}
            style={{ left: `${left}%`, width: `${width}%` }}
            title={`${step.label}: ${took}`}
          />
        ))}
      </div>
      <div className="time-scale">
        {ticks.map(({ left, words: time }) => (
          <span key={left}>{time}</span>
        ))}
      </div>
    </div>
  )
}

function StepNode(props: { readonly step: Step; readonly stop: string | null; readonly isStuck: boolean }) {
  const { step, stop, isStuck } = props
  const { op_name, label, shard, from, state, why, began, ended } = step
  const took = began !== null && ended !== null ? duration(Date.parse(ended) - Date.parse(began)) : null
  return (
    <li
      className="step"
      data-state={isStuck && state === 'running' ? 'failed' : state}
      data-op={op_name}
      title={why}
    >
      <Glyph name={glyphOf(op_name, state, isStuck)} />
      <span>
        {label}{' '}
        {shard !== null && (
          <span className="muted">{from === null ? nameOf(shard) : `${from} → ${nameOf(shard)}`}</span>
        )}
        {stop !== null && <strong> {stop}</strong>}
        {stop === null && took !== null && <span className="muted"> · {took}</span>}
        <span className="visually-hidden"> {words[state]}</span>
      </span>
    </li>
  )
}

/** A stuck or failed step never looks done. */
function glyphOf(name: Step['op_name'], state: Step['state'], isStuck: boolean): GlyphName {
  if (isStuck && state === 'running') return 'stuck'
  if (name !== 'hand-over' || state === 'failed') return glyphs[state]
  return state === 'done' ? 'diamond' : 'diamond-open'
}

/** A future shard has no number: "new-1" would be a different one in each group. */
function nameOf(shard: string): string {
  return /^new-\d+$/.test(shard) ? 'new' : shard
}

/** Bytes, and a time only if the total is known. */
export function SyncProgress({
  sync,
}: {
  readonly sync: NonNullable<NonNullable<Action['lanes']>[number]['sync']>
}) {
  const { shard, done, total, bytes_per_s: rate } = sync
  const left = total !== null && rate !== null && rate > 0 ? ((total - done) / rate) * 1_000 : null
  return (
    <span className="sync">
      {total !== null && <progress value={done} max={total} aria-label={`Full sync of shard ${shard}`} />}
      {shard} receives {bytes(done)}
      {total !== null && ` of ${bytes(total)}`}
      {rate !== null && ` · ${bytes(rate)}/s`}
      {left !== null && ` · ${duration(left)} left`}
    </span>
  )
}
