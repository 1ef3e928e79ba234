import type { Action, Output, operations } from '@fairlead/api'
import { Link } from 'wouter'
import { useMay } from '../../live/permissions.ts'
import { MOST_DATABASES, useBuilds, useDatabases, useKnownActions } from '../../live/queries.ts'
import { Page } from '../../parts/page.tsx'
import { Answer, Empty } from '../../parts/problem.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { nameOfRuns, runsOf } from '../../words/describe-action.ts'
import { harmOf } from '../../words/describe-target.ts'
import { count } from '../../words/format.ts'
import { nameIn } from '../../words/name-in.ts'
import { FetchBuilds } from './fetch-builds.tsx'

type Build = Output<typeof operations.listEngineVersions>[number]

interface BuildRow {
  readonly build: Build
  readonly many: number
  /** Upgrades towards this build. */
  readonly coming: readonly Action[]
  readonly nameOf: (action: Action) => string
}

const places: Readonly<Record<Build['source'], string>> = {
  path: 'on PATH',
  folder: 'in the folder of builds',
}
const columns: readonly Column<BuildRow>[] = [
  { name: 'Build', cell: ({ build }) => runsOf(build) },
  { name: 'Newest', cell: ({ build }) => build.latest && `newest ${build.engine}` },
  { name: 'Used by', number: true, wraps: true, cell: (row) => <UsedBy {...row} /> },
  { name: 'Found', wraps: true, cell: ({ build }) => places[build.source] },
  { name: 'Package', mono: true, wraps: true, cell: ({ build }) => build.package },
  {
    name: 'Known holes',
    wraps: true,
    cell: ({ build }) => <Holes build={build} />,
    title: ({ build }) => build.known_holes.map(({ id, what }) => `${id}: ${what}`).join('\n'),
  },
]

/** The engine builds that can be started here, and how others are fetched. */
export function Builds() {
  const builds = useBuilds()
  const mayFetch = useMay()('update_cluster')
  const { many, coming, nameOf, isPart } = useUses()
  return (
    <Page
      title="Engine builds"
      beside={isPart && <span className="muted">used by the first {count(MOST_DATABASES)} databases</span>}
    >
      <Answer of={builds} height={200}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="There is no engine here" />
          ) : (
            <Table
              label="Engine builds"
              columns={columns}
              keyOf={({ build }) => nameOfRuns(build)}
              rows={all.map((build) => ({
                build,
                many: many?.get(runsOf(build))?.length ?? 0,
                coming: coming?.get(runsOf(build)) ?? [],
                nameOf,
              }))}
            />
          )
        }
      </Answer>
      {mayFetch ? (
        <FetchBuilds />
      ) : (
        <p className="muted below-settings">
          Builds are fetched on the machine of Fairlead: <code>fairlead engines fetch valkey 8.1</code>
        </p>
      )}
    </Page>
  )
}

/** Databases and upgrades by build; undefined: unknown yet. */
function useUses() {
  const databases = useDatabases({ limit: MOST_DATABASES, fields: 'uid,name,engine,engine_version' }).data
  const may = useMay()
  const open = useKnownActions(may('view_status_of_cluster_action')).data?.filter(
    ({ phase }) => phase !== 'ended',
  )
  const many = databases && Map.groupBy(databases, runsOf)
  const coming = open && Map.groupBy(open.filter(isOnItsWay), ({ goal }) => runsOf(goal))
  return { many, coming, nameOf: nameIn(databases ?? []), isPart: (databases?.length ?? 0) >= MOST_DATABASES }
}

/** From the window on, an upgrade's goal already serves; an undone upgrade goes elsewhere. */
function isOnItsWay({ phase }: Action): boolean {
  return phase !== 'window' && phase !== 'finishing' && phase !== 'undoing'
}

/** Number of named upgrades; the list of actions has the rest. */
const NAMED = 3

function UsedBy({ build, many, coming, nameOf }: BuildRow) {
  const rest = coming.length - NAMED
  return (
    <>
      {many === 0 ? '0' : <Link href={`/databases?version=${nameOfRuns(build)}`}>{many}</Link>}
      {coming.length > 0 && (
        <span className="muted">
          {' '}
          + {coming.length} on the way:{' '}
          {coming.slice(0, NAMED).map((action, n) => (
            <span key={action.action_uid}>
              {n > 0 && ', '}
              <Link href={`/actions/${action.action_uid}`}>{nameOf(action)}</Link>
            </span>
          ))}
          {rest > 0 && (
            <>
              , <Link href="/actions?status=active">{rest} more</Link>
            </>
          )}
        </span>
      )}
    </>
  )
}

function Holes({ build: { known_holes: holes } }: { readonly build: Build }) {
  if (holes.length === 0) return 'none'
  const { harm, tone } = harmOf(holes)
  return (
    <span data-tone={tone}>
      {holes.length}: {harm}
    </span>
  )
}
