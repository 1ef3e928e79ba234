import type { Action, Database, Node } from '@fairlead/api'
import { Link } from 'wouter'
import { useNow } from '../../live/clock.ts'
import { useMay } from '../../live/permissions.ts'
import { MOST_DATABASES, useDatabases, useKnownActions, useNodes } from '../../live/queries.ts'
import { ActionLines } from '../../parts/action-lines.tsx'
import { MarkView } from '../../parts/mark.tsx'
import { Card, Page } from '../../parts/page.tsx'
import { Answer } from '../../parts/problem.tsx'
import { runsOf } from '../../words/describe-action.ts'
import { courseOf } from '../../words/describe-database.ts'
import { foldReason } from '../../words/fold-reason.ts'
import { bytes, count } from '../../words/format.ts'
import { listNeeds } from '../../words/list-needs.ts'
import { nameIn } from '../../words/name-in.ts'
import { FirstDatabase } from '../databases/first-database.tsx'

/** Waits for a person, running actions, and outdated databases. */
export function Overview() {
  const databases = useDatabases({
    limit: MOST_DATABASES,
    fields: 'uid,name,status,status_reason,engine,engine_version,action_uid,upgradable_to',
  })
  return (
    <Page title="Overview">
      <Answer of={databases} height={320}>
        {(rows) => (rows.length === 0 ? <FirstDatabase /> : <Cluster databases={rows} />)}
      </Answer>
    </Page>
  )
}

/** Drawn as a whole: a late card would move those below. */
function Cluster({ databases }: { readonly databases: readonly Database[] }) {
  const may = useMay()
  const actions = useKnownActions()
  const { data: all = [] } = actions
  return (
    <Answer of={actions.error === null ? actions : { ...actions, data: all }} height={320}>
      {() => (
        <div className="overview-grid">
          <Answer of={actions}>{() => <NeedsYou databases={databases} actions={all} />}</Answer>
          <Versions databases={databases} actions={all} />
          <div className="stack">
            <Answer of={actions}>{() => <MovingNow databases={databases} actions={all} />}</Answer>
            {may('view_all_nodes_info') && <NodesLine />}
          </div>
          <Recent databases={databases} actions={all} />
        </div>
      )}
    </Answer>
  )
}

type Known = { readonly databases: readonly Database[]; readonly actions: readonly Action[] }

/** Everything that waits for a person, the most severe first. */
function NeedsYou(known: Known) {
  const needs = listNeeds({ ...known, nameOf: nameIn(known.databases) }, useNow())
  return (
    <Card title="Needs you" beside={<span className="count">{needs.length}</span>}>
      {needs.length === 0 ? (
        <p className="calm">Nothing. You may look away.</p>
      ) : (
        <ul className="needs">
          {needs.map(({ key, to, name, mark, why }) => (
            <li key={key}>
              <Link href={to}>{name}</Link> <MarkView mark={mark} />
              <Why why={why} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

function Why({ why }: { readonly why: string }) {
  const { first, rest } = foldReason(why)
  if (why === '') return null
  if (rest.length === 0) return <p className="muted">{first}</p>
  return (
    <details className="muted">
      <summary>{first}</summary>
      <ul>
        {rest.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
    </details>
  )
}

/** Databases by serving build. Filled bar: the newest of its flavour here. Each leads to the list. */
function Versions({ databases, actions }: Known) {
  const upgrades = new Map(
    actions
      .filter(({ name, phase }) => name === 'SMUpgradeBDB' && phase !== 'ended')
      .map((action) => [action.bdb_uid, action]),
  )
  const groups = groupsOf(databases, upgrades)
  const most = Math.max(...groups.map(({ many }) => many), 1)
  return (
    <Card
      title="Versions"
      beside={
        databases.length >= MOST_DATABASES && (
          <span className="muted">of the first {count(MOST_DATABASES)} databases</span>
        )
      }
    >
      <ul className="bars">
        {groups.map((group) => (
          <Line key={group.name} group={group} most={most} />
        ))}
      </ul>
    </Card>
  )
}

interface LineProps {
  readonly group: ReturnType<typeof groupsOf>[number]
  /** Length of the longest bar. */
  readonly most: number
}

function Line({ group: { name, to, many, moves, isNewest }, most }: LineProps) {
  return (
    <li>
      <Link href={to}>{name}</Link>
      <span className="bar-track" aria-hidden="true">
        <span
          className="bar texture"
          data-as={isNewest ? 'goal' : 'old'}
          style={{ width: `${(100 * many) / most}%` }}
        />
      </span>
      <span className="number">{count(many)}</span>
      <span className="muted">
        {(moves.length === 0 && isNewest ? ['newest'] : moves).map((each) => (
          <span key={each} className="piece">
            {each}
          </span>
        ))}
      </span>
    </li>
  )
}

function groupsOf(databases: readonly Database[], upgrades: ReadonlyMap<number | null, Action>) {
  const served = (one: Database) => runsOf(courseOf(one, upgrades.get(one.uid)).serves)
  return [...Map.groupBy(databases, served)]
    .map(([name, members]) => ({
      name,
      many: members.length,
      moves: movesOf(members.flatMap(({ uid }) => upgrades.get(uid) ?? [])),
      to: `/databases?version=${name.replace(' ', '-')}`,
      isNewest: members.every(({ upgradable_to }) => upgradable_to === null),
    }))
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))
}

/** "2 upgrading" and "1 way back kept". */
function movesOf(upgrades: readonly Action[]): readonly string[] {
  const windows = upgrades.filter(({ phase }) => phase === 'window').length
  const others = upgrades.length - windows
  return [
    ...(others > 0 ? [`${count(others)} upgrading`] : []),
    ...(windows > 0 ? [`${count(windows)} ${windows === 1 ? 'way' : 'ways'} back kept`] : []),
  ]
}

/** Running actions. */
function MovingNow({ databases, actions }: Known) {
  const running = actions.filter(({ phase }) => phase !== 'ended')
  return (
    <Card title="Moving now" beside={<span className="count">{running.length}</span>}>
      {running.length === 0 ? (
        <p className="calm">Nothing moves.</p>
      ) : (
        <ActionLines actions={running} nameOf={nameIn(databases)} />
      )}
    </Card>
  )
}

/** The machines, in one line. */
function NodesLine() {
  const nodes = useNodes()
  return (
    <Card title="Nodes">
      <Answer of={nodes} height={20}>
        {(all) => <NodeFacts nodes={all} />}
      </Answer>
    </Card>
  )
}

function NodeFacts({ nodes }: { readonly nodes: readonly Node[] }) {
  const up = nodes.filter(({ status }) => status === 'active')
  const active = up.length
  const free = up.reduce((sum, { free_memory = 0 }) => sum + free_memory, 0)
  const isWell = active === nodes.length
  return (
    <p className="facts">
      <MarkView
        mark={{
          sign: isWell ? 'active' : 'stuck',
          tone: isWell ? 'ok' : 'bad',
          label: `${active} of ${nodes.length} active`,
        }}
      />
      <span>{bytes(free)} free for shards</span>
    </p>
  )
}

/** Recently ended actions. */
function Recent({ databases, actions }: Known) {
  const ended = actions.filter(({ phase }) => phase === 'ended').slice(0, 8)
  return (
    <Card title="Recent" className="wide">
      <ActionLines actions={ended} nameOf={nameIn(databases)} />
    </Card>
  )
}
