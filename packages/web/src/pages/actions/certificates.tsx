import { type Action, type Certificate, handoverLengths } from '@fairlead/api'
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
import { clockTime, count } from '../../words/format.ts'
import { type Lengths, lengthsOf } from '../../words/handover-lengths.ts'
import { type Scale, scaleOf } from '../../words/handover-scale.ts'
import { Moment } from './moment.tsx'
import { PhaseBar } from './phase-bar.tsx'
import { WriteStopStrip } from './write-stop-strip.tsx'

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
      <Meanings certificates={certificates} />
      {clocks !== undefined && <p className="clocks muted">{clocks}</p>}
      <ol className="certificates">
        {certificates.map((certificate, n) => (
          <CertificateView
            key={`${certificate.at} ${certificate.to}`}
            {...{ action, certificate, scale, n: n + 1 }}
          />
        ))}
      </ol>
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

/** The write stop in large type, with a client's longest wait below, which is often longer. */
function Numbers({ certificate, lengths }: LengthsProps) {
  const { recovered, held_ms: held } = certificate
  const wait = waitOf(certificate)
  return (
    <div className="certificate-numbers">
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
      {held !== null && (
        <p className="certificate-wait">
          <strong>{wait.number}</strong> <span className="muted">{wait.words}</span>
        </p>
      )}
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
