import type { Action, Database } from '@fairlead/api'
import { Link } from 'wouter'
import { Card } from '../../parts/page.tsx'
import { runsOf } from '../../words/describe-action.ts'
import { count } from '../../words/format.ts'

/** How many databases run what. A filled bar: nothing newer of its flavour is here. Each leads to the list. */
export function Versions(props: {
  readonly databases: readonly Database[]
  readonly actions: readonly Action[]
}) {
  const { databases, actions } = props
  const upgrading = new Set(
    actions
      .filter(({ name, phase }) => name === 'SMUpgradeBDB' && phase !== 'ended')
      .map(({ bdb_uid: uid }) => uid),
  )
  const groups = groupsOf(databases, upgrading)
  const most = Math.max(...groups.map(({ many }) => many), 1)
  return (
    <Card title="Versions">
      <ul className="bars">
        {groups.map(({ name, to, many, moving, isNewest }) => (
          <li key={name}>
            <Link href={to}>{name}</Link>
            <span className="bar-track" aria-hidden="true">
              <span
                className="bar texture"
                data-as={isNewest ? 'goal' : 'old'}
                style={{ width: `${(100 * many) / most}%` }}
              />
            </span>
            <span className="number">{count(many)}</span>
            <span className="muted">{moving > 0 ? `${count(moving)} upgrading` : isNewest && 'newest'}</span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function groupsOf(databases: readonly Database[], upgrading: ReadonlySet<number | null>) {
  return [...Map.groupBy(databases, runsOf)]
    .map(([name, members]) => ({
      name,
      many: members.length,
      // What they run is on record as before until their upgrades have ended.
      moving: members.filter(({ uid }) => upgrading.has(uid)).length,
      to: `/databases?version=${name.replace(' ', '-')}`,
      isNewest: members.every(({ upgradable_to }) => upgradable_to === null),
    }))
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))
}
