import type { Action, Database, Output, operations } from '@fairlead/api'
import { Link } from 'wouter'
import { useNow } from '../../live/clock.ts'
import type { StatsPoint } from '../../live/queries.ts'
import { MarkView } from '../../parts/mark.tsx'
import type { Column } from '../../parts/table.tsx'
import { Version } from '../../parts/version.tsx'
import { nameOfRuns } from '../../words/describe-action.ts'
import { addressOf, courseOf, groupsOf, markOfDatabase, servingOf } from '../../words/describe-database.ts'
import { sayHoles } from '../../words/describe-target.ts'
import { bytes, milliseconds, short } from '../../words/format.ts'

/** A row of the list. Its cells change in place. */
export interface DatabaseRow {
  readonly database: Database
  /** The running action, if known. */
  readonly action: Action | undefined
  readonly stats: StatsPoint | undefined
  readonly holes: Holes
}

/** Known holes by name of the build. */
export type Holes = ReadonlyMap<string, KnownHoles>
type KnownHoles = Output<typeof operations.listEngineVersions>[number]['known_holes']

/** The list of databases. */
export const databaseColumns: readonly Column<DatabaseRow>[] = [
  {
    name: 'Name',
    cell: ({ database: { uid, name } }) => <Link href={`/databases/${uid}`}>{name}</Link>,
    title: ({ database }) => database.name,
  },
  { name: 'Status', wraps: true, cell: (row) => <Status {...row} /> },
  { name: 'Runs', wraps: true, cell: ({ database }) => servingOf(database) },
  { name: 'Can go to', cell: (row) => <Goes {...row} /> },
  { name: 'Shards', number: true, room: 'medium', cell: ({ database }) => groupsOf(database) },
  { name: 'Memory', number: true, wraps: true, cell: (row) => <Memory {...row} /> },
  {
    name: 'Requests/s',
    number: true,
    room: 'medium',
    cell: ({ stats }) => (stats?.total_req === undefined ? '–' : short(stats.total_req)),
  },
  {
    name: 'p99',
    number: true,
    room: 'wide',
    cell: ({ stats }) => (stats?.latency_p99 === undefined ? '–' : milliseconds(stats.latency_p99 / 1_000)),
  },
  {
    name: 'Endpoint',
    mono: true,
    wraps: true,
    room: 'medium',
    cell: ({ database }) => addressOf(database) ?? '–',
  },
]

function Status({ database }: DatabaseRow) {
  return <MarkView mark={markOfDatabase(database, useNow())} />
}

/** The target of its upgrade, or a possible one. */
function Goes({ database, action, holes }: DatabaseRow) {
  const { upgradable_to: next, action_uid: running } = database
  const goes = courseOf(action)
  if (running === undefined) return <Next next={next} holes={holes} />
  return (
    <Link href={`/actions/${running}`} className="goes">
      {goes === null ? 'nothing now' : goes[0]} <span className="muted">{goes?.[1] ?? 'changing'}</span>
    </Link>
  )
}

/** The recommended target, with the harm of its known holes. Absent: the builds are unknown now. */
function Next({ next, holes }: { readonly next: Database['upgradable_to']; readonly holes: Holes }) {
  if (next === undefined) return '–'
  if (next === null) return <span className="muted">nothing better</span>
  const { holes: said, tone } = sayHoles(holes.get(nameOfRuns(next)) ?? [])
  if (tone === 'quiet') return <Version of={next} />
  return (
    <span className="goes">
      <Version of={next} />{' '}
      <span className="piece" data-tone={tone} title={said}>
        least bad: known hole
      </span>
    </span>
  )
}

function Memory({ database: { memory_size: size }, stats }: DatabaseRow) {
  return (
    <>
      {stats?.used_memory === undefined ? '–' : <span className="piece">{bytes(stats.used_memory)}</span>}
      <span className="muted piece"> / {size === 0 ? '∞' : bytes(size)}</span>
    </>
  )
}
