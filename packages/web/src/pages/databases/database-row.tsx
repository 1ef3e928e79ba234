import type { Database } from '@fairlead/api'
import { Link } from 'wouter'
import type { StatsPoint } from '../../live/queries.ts'
import { MarkView } from '../../parts/mark.tsx'
import { Version } from '../../parts/version.tsx'
import { addressOf, groupsOf, markOfDatabase } from '../../words/describe-database.ts'
import { bytes, milliseconds, short } from '../../words/format.ts'

/** A line of the list. Its cells change in place; the line keeps its place. */
export function DatabaseRow(props: { readonly database: Database; readonly stats: StatsPoint | undefined }) {
  const { database, stats } = props
  const { uid, name, upgradable_to: next, action_uid: action, memory_size: size } = database
  return (
    <tr>
      <th scope="row" title={database.name}>
        <Link href={`/databases/${uid}`}>{name}</Link>
      </th>
      <td>
        <MarkView mark={markOfDatabase(database)} />
      </td>
      <td>
        <Version of={database} />
      </td>
      <td>
        {next != null && action === undefined ? (
          <Version of={next} />
        ) : (
          action !== undefined && <Link href={`/actions/${action}`}>changing</Link>
        )}
      </td>
      <td className="number">{groupsOf(database)}</td>
      <td className="number">
        {stats?.used_memory === undefined ? '–' : bytes(stats.used_memory)}
        <span className="muted"> / {size === 0 ? '∞' : bytes(size)}</span>
      </td>
      <td className="number">{stats?.total_req === undefined ? '–' : short(stats.total_req)}</td>
      <td className="number">
        {stats?.latency_p99 === undefined ? '–' : milliseconds(stats.latency_p99 / 1_000)}
      </td>
      <td className="mono">{addressOf(database) ?? '–'}</td>
    </tr>
  )
}
