import { ApiError, type HandoverTrace } from '@fairlead/api'
import { useState } from 'react'
import { useTrace } from '../../live/queries.ts'
import { Problem } from '../../parts/problem.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { type Bucket, cutTrace, sayTick, ticksOf } from '../../words/cut-trace.ts'

const ranges = [
  { ms: 250, label: '250 ms around it' },
  { ms: 2_500, label: '2.5 s around it' },
] as const

interface MomentProps {
  readonly uid: string
  readonly n: number
  readonly isOpen: boolean
  /** Length of the whole handover. */
  readonly took: string
}

/** Clients' view of a handover under its real load. Read when opened. */
export function Moment(props: MomentProps) {
  const [isOpen, setOpen] = useState(props.isOpen)
  const [around, setAround] = useState<number>(ranges[0].ms)
  const { data, error } = useTrace(props.uid, props.n, isOpen)
  return (
    <details className="moment" open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The moment, as clients saw it</summary>
      <div className="moment-body">
        {data === undefined && error === null && <p className="muted">Loading the chart…</p>}
        {data === undefined && error !== null && <NotYet error={error} />}
        {data !== undefined && (
          <>
            <div className="tabs">
              {ranges.map(({ ms, label }) => (
                <button key={ms} type="button" aria-pressed={ms === around} onClick={() => setAround(ms)}>
                  {label}
                </button>
              ))}
            </div>
            <MomentChart trace={data} around={around} took={props.took} />
            <AsNumbers trace={data} />
          </>
        )}
      </div>
    </details>
  )
}

function NotYet({ error }: { readonly error: Error }) {
  const isCounting = error instanceof ApiError && error.code === 'trace_not_ready'
  if (isCounting)
    return (
      <p className="muted">
        The endpoint counts until 2.5 s after the handover. The chart then appears by itself.
      </p>
    )
  return <Problem error={error} />
}

const columns: readonly Column<Bucket>[] = [
  { name: 'ms', cell: ({ at }) => Math.round(at) },
  { name: 'Replies', number: true, cell: ({ replies }) => replies },
  { name: 'Requests that wait', number: true, cell: ({ held }) => held },
  { name: 'Errors', number: true, cell: ({ errors }) => errors },
]

function AsNumbers({ trace }: { readonly trace: HandoverTrace }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>As numbers</summary>
      {isOpen && (
        <Table
          label="The moment as numbers"
          as="whole"
          columns={columns}
          keyOf={({ at }) => at}
          rows={cutTrace(trace, ranges[0].ms)}
        />
      )}
    </details>
  )
}

const WIDTH = 1_000
/** Heights of the replies, and of the waiting requests below. */
const HEIGHT = 120
const BELOW = 48
const WHOLE = HEIGHT + BELOW

interface ChartProps {
  readonly trace: HandoverTrace
  readonly around: number
  /** Length of the whole handover in its certificate. */
  readonly took: string
}

/** Bars of replies every 10 ms, with waiting requests below, a shaded write stop, and marked errors. */
function MomentChart({ trace, around, took }: ChartProps) {
  const { hold, pause, promote, release } = trace.marks
  const { x, width, ticks, replies, held, errors } = drawingOf(trace, around)
  const [from, to] = [x(pause.from - hold.from), x(promote.to - hold.from)]
  const label = `Replies of the endpoint every ${trace.bucket_ms} ms; the handover took ${took}`
  return (
    <figure className="chart">
      <svg viewBox={`0 0 ${WIDTH} ${WHOLE}`} preserveAspectRatio="none" role="img" aria-label={label}>
        <rect {...{ x: from, y: 0, width: Math.max(to - from, 1), height: WHOLE }} className="chart-stop" />
        <path d={replies} className="chart-replies" />
        <path d={held} className="chart-held" />
        {errors.map(({ at }) => (
          <rect key={at} x={x(at)} y="0" width={width} height="8" className="chart-error" />
        ))}
        <line x1="0" x2={WIDTH} y1={HEIGHT + 2} y2={HEIGHT + 2} className="strip-line" />
        {[0, release.to - hold.from].map((ms) => (
          <line key={ms} x1={x(ms)} x2={x(ms)} y1="0" y2={WHOLE} className="chart-mark" />
        ))}
      </svg>
      <Ticks x={x} ticks={ticks} />
      <Caption {...{ trace, around, took }} />
    </figure>
  )
}

function drawingOf(trace: HandoverTrace, around: number) {
  const buckets = cutTrace(trace, around)
  const begin = buckets[0]?.at ?? 0
  const whole = Math.max(buckets.length * trace.bucket_ms, 1)
  const x = (ms: number) => (WIDTH * (ms - begin)) / whole
  const width = Math.max((WIDTH * trace.bucket_ms * 0.86) / whole, 0.6)
  const bars = (of: 'replies' | 'held', base: number, height: number) => {
    const most = Math.max(...buckets.map((bucket) => bucket[of]), 1)
    return buckets
      .filter((bucket) => bucket[of] > 0)
      .map((bucket) => {
        const tip = ((bucket[of] / most) * height).toFixed(1)
        return `M${x(bucket.at).toFixed(1)} ${base}v${tip}h${width.toFixed(1)}V${base}z`
      })
      .join('')
  }
  return {
    x,
    width,
    ticks: ticksOf(begin, begin + whole),
    replies: bars('replies', HEIGHT, 8 - HEIGHT),
    held: bars('held', HEIGHT + 4, BELOW - 12),
    errors: buckets.filter(({ errors }) => errors > 0),
  }
}

function Caption({ trace, around, took }: ChartProps) {
  const buckets = cutTrace(trace, around)
  const most = (of: keyof Bucket) => Math.max(...buckets.map((bucket) => bucket[of]), 0)
  const errors = buckets.reduce((sum, bucket) => sum + bucket.errors, 0)
  if (most('replies') + most('held') + errors === 0)
    return (
      <figcaption className="muted">
        No client asked anything in this time. Whole handover: {took}, from the order to hold clients until
        they went on.
      </figcaption>
    )
  return (
    <figcaption className="muted">
      Bars: replies in {trace.bucket_ms} ms, at most {most('replies')}. Below them: requests that wait, at
      most {most('held')}. Between the lines: the whole handover, {took}; shaded: the write stop; both by the
      clock of the server. Bars are as the proxy counted. Errors: {errors}.
    </figcaption>
  )
}

/** Outside of the drawing, which fills the width, so that the text keeps its size on every screen. */
function Ticks({ x, ticks }: { readonly x: (ms: number) => number; readonly ticks: readonly number[] }) {
  return (
    <div className="chart-ticks" aria-hidden="true">
      {ticks.map((ms) => (
        <span key={ms} style={{ left: `${(x(ms) * 100) / WIDTH}%` }}>
          {sayTick(ms).map((line) => (
            <span key={line}>{line}</span>
          ))}
        </span>
      ))}
    </div>
  )
}
