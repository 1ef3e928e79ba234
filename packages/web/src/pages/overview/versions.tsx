import type { Action, Database } from '@fairlead/api'
import { Link } from 'wouter'
import { MOST_DATABASES } from '../../live/queries.ts'
import { Card } from '../../parts/page.tsx'
import { runsOf } from '../../words/describe-action.ts'
import { count } from '../../words/format.ts'
import type { Known } from './needs-you.tsx'

/** Databases by serving build, with their lists. */
export function Versions({ databases, actions }: Omit<Known, 'losses'>) {
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
      <p className="legend muted">
        <span>
          <span className="texture" data-as="goal" aria-hidden="true" /> nothing better here
        </span>
        <span>
          <span className="texture" data-as="old" aria-hidden="true" /> can be upgraded
        </span>
      </p>
    </Card>
  )
}

interface LineProps {
  readonly group: ReturnType<typeof groupsOf>[number]
  /** Length of the longest bar. */
  readonly most: number
}

function Line({ group: { name, to, many, moves, isBest }, most }: LineProps) {
  return (
    <li>
      <Link href={to}>{name}</Link>
      <span className="bar-track" aria-hidden="true">
        <span
          className="bar texture"
          data-as={isBest ? 'goal' : 'old'}
          style={{ width: `${(100 * many) / most}%` }}
        />
      </span>
      <span className="number">{count(many)}</span>
      <span className="muted">
        {moves.map((each) => (
          <span key={each} className="piece">
            {each}
          </span>
        ))}
      </span>
    </li>
  )
}

function groupsOf(databases: readonly Database[], upgrades: ReadonlyMap<number | null, Action>) {
  return [...Map.groupBy(databases, runsOf)]
    .map(([name, members]) => ({
      name,
      many: members.length,
      moves: movesOf(members.flatMap(({ uid }) => upgrades.get(uid) ?? [])),
      to: `/databases?version=${name.replace(' ', '-')}`,
      isBest: members.every(({ upgradable_to }) => upgradable_to === null),
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
