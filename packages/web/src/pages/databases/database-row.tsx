import type { Action, Database } from '@fairlead/api'
import { Link } from 'wouter'
import type { StatsPoint } from '../../live/queries.ts'
import { MarkView } from '../../parts/mark.tsx'
import { Version } from '../../parts/version.tsx'
import { addressOf, type Course, courseOf, groupsOf, markOfDatabase } from '../../words/describe-database.ts'
import { bytes, milliseconds, short } from '../../words/format.ts'

/** A line of the list. Its cells change in place; the line keeps its place. */
export function DatabaseRow(props: {
  readonly database: Database
  /** What runs on it, if that is known. */
  readonly action: Action | undefined
  readonly stats: StatsPoint | undefined
}) {
  const { database, action, stats } = props
  const { uid, name, memory_size: size } = database
  const { serves, goes } = courseOf(database, action)
  return (
    <tr>
      <th scope="row" title={database.name}>
        <Link href={`/databases/${uid}`}>{name}</Link>
      </th>
      <td>
        <MarkView mark={markOfDatabase(database)} />
      </td>
      <td>
        <Version of={serves} />
      </td>
      <td className="goes">
        <Goes database={database} goes={goes} />
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

/** Where an upgrade takes it, or what it can be upgraded to. */
function Goes({ database, goes }: { readonly database: Database; readonly goes: Course['goes'] }) {
  const { upgradable_to: next, action_uid: running } = database
  if (running !== undefined)
    return (
      <Link href={`/actions/${running}`}>
        {goes === null ? 'changing' : goes[0]} <span className="muted">{goes?.[1]}</span>
      </Link>
    )
  return next != null && <Version of={next} />
}
