import { ApiError, type HandoverTrace } from '@fairlead/api'
import { useState } from 'react'
import { useTrace } from '../../live/queries.ts'
import { Problem } from '../../parts/problem.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { cutTrace } from '../../words/cut-trace.ts'
import { MomentChart } from './moment-chart.tsx'

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

type Bucket = ReturnType<typeof cutTrace>[number]
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
