import { type Action, type Certificate, handoverLengths, sayLength } from '@fairlead/api'
import { useNow } from '../../live/clock.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Card } from '../../parts/page.tsx'
import {
  certificatesAsMarkdown,
  clocksOf,
  known,
  lengthsShown,
  proofOf,
  signOf,
  waitOf,
} from '../../words/certificate-text.ts'
import { aboutMilliseconds, clockTime, count } from '../../words/format.ts'
import { type Lengths, lengthsOf } from '../../words/handover-lengths.ts'
import { placesOn, type Scale, scaleOf } from '../../words/handover-scale.ts'
import { Moment } from './moment.tsx'

/** The proofs of the handovers. */
export function Certificates(props: { readonly action: Action; readonly databaseName: string }) {
  const { action, databaseName } = props
  const { certificates } = action
  const title = certificates.length === 1 ? 'Certificate' : `${certificates.length} certificates`
  // Once for all certificates.
  const clocks = certificates.map(clocksOf).find((words) => words !== null)
  const scale = scaleOf(certificates.flatMap(({ phases }) => (phases === null ? [] : [phases])))
  return (
    <Card
      title={title}
      beside={
        <span className="card-tools">
          <CopyButton
            text={() => certificatesAsMarkdown(action, databaseName)}
            label="Copy as Markdown"
            shortcut="c"
          />
          <CopyButton text={() => JSON.stringify(certificates, null, 2)} label="Copy as JSON" />
        </span>
      }
    >
      {(certificates.length > 1 || (action.lanes?.length ?? 0) > 1) && (
        <WriteStopStrip certificates={certificates} />
      )}
      <ol className="certificates">
        {certificates.map((certificate, n) => (
          <CertificateView
            key={`${certificate.at} ${certificate.to}`}
            {...{ action, certificate, scale, n: n + 1 }}
          />
        ))}
      </ol>
      <Meanings certificates={certificates} />
      {clocks !== undefined && <p className="clocks muted">{clocks}</p>}
    </Card>
  )
}

function CertificateView(props: {
  readonly action: Action
  readonly certificate: Certificate
  readonly scale: Scale
  readonly n: number
}) {
  const { action, certificate, scale, n } = props
  const { from, to, group, at, phases } = certificate
  const lengths = lengthsOf(certificate)
  // Of many groups one is open, because each open one costs a query and moves the rest.
  const isAlone = (action.lanes?.length ?? 1) === 1
  return (
    <li className="certificate" id={`handover-${n}`}>
      <Numbers certificate={certificate} lengths={lengths} />
      <div className="certificate-body">
        <p>
          <strong>
            {from} → {to}
          </strong>
          <span className="muted">
            {group !== null && !isAlone && ` group ${group}`} <At time={at} />
          </span>
        </p>
        {phases !== null && lengths.parts !== null && (
          <PhaseBar phases={phases} lengths={lengths.parts} scale={scale} />
        )}
        <Offsets certificate={certificate} />
        <p className="muted">{proofOf(certificate)}</p>
        <Waits certificate={certificate} lengths={lengths} />
        {certificate.held_ms !== null && (
          <Moment
            uid={action.action_uid}
            n={n}
            isOpen={n === (isAlone ? action.certificates.length : 1)}
            took={known(lengths.whole, String)}
          />
        )}
      </div>
    </li>
  )
}

/** The meaning of each length, once for all certificates. */
function Meanings({ certificates }: { readonly certificates: readonly Certificate[] }) {
  return (
    <dl className="meanings">
      {lengthsShown(certificates).map(({ label, meaning }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{meaning}</dd>
        </div>
      ))}
    </dl>
  )
}

interface LengthsProps {
  readonly certificate: Certificate
  readonly lengths: Lengths
}

/** The longest wait of a client and the write stop, equally large: the first is often longer. */
function Numbers({ certificate, lengths }: LengthsProps) {
  const { recovered, held_ms: held } = certificate
  const wait = waitOf(certificate)
  return (
    <div className="certificate-numbers">
      {held !== null && (
        <p className="certificate-number">
          <span className="big">{wait.number}</span>
          <span className="muted">{wait.words}</span>
        </p>
      )}
      <p className="certificate-number" data-recovered={recovered}>
        <span className="big">
          {recovered && '≤ '}
          {known(lengths.stop, String)}
        </span>
        <span className="muted">
          {handoverLengths.write_stop.label.toLowerCase()}
          {recovered && ' (put together after a crash)'}
        </span>
      </p>
    </div>
  )
}

function At({ time }: { readonly time: string }) {
  return (
    <time dateTime={time} title={time}>
      {clockTime(time, useNow())}
    </time>
  )
}

const tones = { '=': 'ok', '≠': 'bad', '·': 'quiet' } as const

function Offsets({ certificate }: { readonly certificate: Certificate }) {
  const { offset_from: from, offset_to: to, replid } = certificate
  const sign = signOf(certificate)
  return (
    <p className="offsets mono" data-tone={tones[sign]}>
      {known(from, count, '?')} {sign} {known(to, count, '?')}{' '}
      <span className="muted" title={replid}>
        replid {replid.slice(0, 8)}…
      </span>
    </p>
  )
}

function Waits({ certificate, lengths }: LengthsProps) {
  const { clients_held, requests_held, full_syncs, keys } = certificate
  return (
    <dl className="pairs">
      <dt>{handoverLengths.hold.label}</dt>
      <dd>{known(lengths.hold, String)}</dd>
      <dt>{handoverLengths.whole.label}</dt>
      <dd>{known(lengths.whole, String)}</dd>
      <dt>Clients that waited</dt>
      <dd>{known(clients_held, count)}</dd>
      <dt>Requests that waited</dt>
      <dd>{known(requests_held, count)}</dd>
      <dt>Keys on both</dt>
      <dd>{known(keys, count)}</dd>
      <dt>Full syncs caused</dt>
      <dd>{known(full_syncs, count, 'counting…')}</dd>
    </dl>
  )
}

interface PhaseBarProps {
  readonly phases: NonNullable<Certificate['phases']>
  /** The same in words. */
  readonly lengths: NonNullable<Lengths['parts']>
  /** Shared by all handovers of the page. */
  readonly scale: Scale
}

/** The parts of a handover on a scale, with numbers below. */
function PhaseBar({ phases, lengths, scale }: PhaseBarProps) {
  const places = placesOn(scale, phases)
  return (
    <div className="phases">
      <div aria-hidden="true">
        <div className="phase-bar">
          {places.map(({ name, left, width }) => (
            <span key={name} data-part={name} style={{ left: `${left}%`, width: `${width}%` }} />
          ))}
        </div>
        <div className="phase-scale">
          {scale.ticks.map((ms) => (
            <span key={ms} style={{ left: `${(ms / scale.end) * 100}%` }}>
              {/* The unit appears once: otherwise numbers touch each other on a phone. */}
              {ms === scale.end ? aboutMilliseconds(ms) : Number(ms.toPrecision(3))}
            </span>
          ))}
        </div>
      </div>
      <ol className="phase-words">
        {places.map(({ name, words }) => (
          <li key={name} data-part={name}>
            <span className="phase-sign" aria-hidden="true" data-part={name} /> {words} <b>{lengths[name]}</b>
          </li>
        ))}
      </ol>
    </div>
  )
}

/** From 1 ms to 1 s, by powers of ten. */
const marks = [1, 10, 100, 1_000]

/** All write stops of an action as dots on one scale. The certificates have the numbers. */
function WriteStopStrip({ certificates }: { readonly certificates: readonly Certificate[] }) {
  const stops = certificates.flatMap(({ write_stop_ms: ms, to }) => (ms === null ? [] : [{ ms, to }]))
  if (stops.length === 0) return null
  const longest = Math.max(...stops.map(({ ms }) => ms))
  return (
    <figure className="strip">
      <svg role="img" aria-label={`${stops.length} write stops, the longest ${sayLength(longest)}`}>
        {marks.map((ms) => (
          <g key={ms}>
            <line x1={xOf(ms)} x2={xOf(ms)} y1="6" y2="44" className="strip-line" />
            <text x={xOf(ms)} y="60" textAnchor={ms === 1 ? 'start' : ms === 1_000 ? 'end' : 'middle'}>
              {ms === 1_000 ? '1 s' : `${ms} ms`}
            </text>
          </g>
        ))}
        {stops.map(({ ms, to }, n) => (
          <circle
            key={`${to} ${ms}`}
            cx={xOf(ms)}
            cy={14 + (n % 4) * 8}
            r="4"
            className="strip-dot"
            data-longest={ms === longest}
          />
        ))}
      </svg>
      <figcaption className="muted">
        Write stops of {stops.length} handovers; the longest {sayLength(longest)}
      </figcaption>
    </figure>
  )
}

/** Percent of the width, so that text and dots keep their size on a phone. */
function xOf(ms: number): string {
  return `${1 + (98 * Math.log10(Math.min(Math.max(ms, 1), 1_000))) / 3}%`
}
