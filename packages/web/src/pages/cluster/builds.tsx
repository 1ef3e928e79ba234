import type { Action, Database, Output, operations } from '@fairlead/api'
import { Link } from 'wouter'
import { useMay } from '../../live/permissions.ts'
import { useBuilds, useDatabases, useKnownActions } from '../../live/queries.ts'
import { Columns } from '../../parts/columns.tsx'
import { Page } from '../../parts/page.tsx'
import { Answer, Empty } from '../../parts/problem.tsx'
import { TableBox } from '../../parts/table-box.tsx'
import { nameOfRuns, runsOf } from '../../words/describe-action.ts'
import { courseOf } from '../../words/describe-database.ts'

type Build = Output<typeof operations.listEngineVersions>[number]

const columns = [
  ...[{ name: 'Build' }, { name: 'Newest' }, { name: 'Used by', number: true }],
  ...[{ name: 'Found' }, { name: 'Package' }, { name: 'Known holes' }],
]
const places: Readonly<Record<Build['source'], string>> = {
  path: 'on PATH',
  folder: 'in the folder of builds',
}

/** The engine builds that can be started here. */
export function Builds() {
  const builds = useBuilds()
  const { many, coming } = useUses()
  return (
    <Page title="Engine builds">
      <Answer of={builds} height={200}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="There is no engine here">
              Fetch one on the machine of Fairlead: <code>fairlead engines fetch valkey 9.1</code>
            </Empty>
          ) : (
            <TableBox label="Engine builds">
              <table className="table">
                <Columns of={columns} />
                <tbody>
                  {all.map((build) => (
                    <BuildRow
                      key={nameOfRuns(build)}
                      build={build}
                      many={many?.get(runsOf(build))?.length ?? 0}
                      coming={coming?.get(runsOf(build))?.length ?? 0}
                    />
                  ))}
                </tbody>
              </table>
            </TableBox>
          )
        }
      </Answer>
    </Page>
  )
}

/** By build: the databases that it serves, and the upgrades that are on their way to it; undefined: not known yet. */
function useUses() {
  const databases = useDatabases({ limit: 1_000, fields: 'uid,engine,engine_version' }).data
  const may = useMay()
  const open = useKnownActions(may('view_status_of_cluster_action')).data?.filter(
    ({ phase }) => phase !== 'ended',
  )
  const running = new Map(open?.map((action) => [action.bdb_uid, action]))
  const serves = (one: Database) => runsOf(courseOf(one, running.get(one.uid)).serves)
  const many = databases && Map.groupBy(databases, serves)
  const coming = open && Map.groupBy(open.filter(isOnItsWay), ({ goal }) => runsOf(goal))
  return { many, coming }
}

/** In its window and later, the goal of an upgrade serves; what is taken back goes elsewhere. */
function isOnItsWay({ phase }: Action): boolean {
  return phase !== 'window' && phase !== 'finishing' && phase !== 'undoing'
}

function BuildRow(props: { readonly build: Build; readonly many: number; readonly coming: number }) {
  const { build, many, coming } = props
  const holes = build.known_holes
  return (
    <tr>
      <th scope="row">{runsOf(build)}</th>
      <td>{build.latest ? `newest ${build.engine}` : ''}</td>
      <td className="number">
        {many === 0 ? '0' : <Link href={`/databases?version=${nameOfRuns(build)}`}>{many}</Link>}
        {coming > 0 && (
          <span className="muted">
            {' '}
            + {coming} <Link href="/actions?status=active">changing</Link>
          </span>
        )}
      </td>
      <td>{places[build.source]}</td>
      <td className="mono">{build.package ?? ''}</td>
      <td
        data-tone={build.insecure ? 'bad' : undefined}
        title={holes.map(({ id, what }) => `${id}: ${what}`).join('\n')}
      >
        {holes.length === 0 ? 'none' : `${holes.length}${build.insecure ? ', clients can run code' : ''}`}
      </td>
    </tr>
  )
}
