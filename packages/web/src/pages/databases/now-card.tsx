import { useMay } from '../../live/permissions.ts'
import { useSeries } from '../../live/queries.ts'
import { Card } from '../../parts/page.tsx'
import { Sparkline } from '../../parts/sparkline.tsx'
import { bytes, count, milliseconds, short } from '../../words/format.ts'
import { spanOf } from '../../words/span-of.ts'

const rows = [
  { name: 'total_req', label: 'Requests/s', show: short },
  { name: 'latency_p99', label: 'p99', show: (micros: number) => milliseconds(micros / 1_000) },
  { name: 'used_memory', label: 'Memory', show: bytes },
  { name: 'conns', label: 'Clients', show: count },
] as const
/** Up to the last quarter of an hour, in four numbers. */
export function NowCard({ uid }: { readonly uid: number }) {
  const may = useMay()
  const isAllowed = may('view_bdb_stats', uid)
  const { data } = useSeries(uid, isAllowed)
  if (!isAllowed) return null
  const points = data ?? []
  const last = points.at(-1)
  const span = spanOf(
    points,
    rows.map(({ name }) => name),
  )
  const about = span === null ? 'nothing measured yet' : `last ${span}`
  return (
    <Card title="Now" beside={<span className="muted">{about}</span>}>
      <dl className="now">
        {rows.map(({ name, label, show }) => {
          const value = last?.[name]
          return (
            <div key={name}>
              <dt>{label}</dt>
              <dd>{value === undefined ? '–' : show(value)}</dd>
              <dd>
                <Sparkline values={points.map((point) => point[name])} label={`${label}, ${about}`} />
              </dd>
            </div>
          )
        })}
      </dl>
    </Card>
  )
}
