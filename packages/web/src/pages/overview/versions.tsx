import type { Database } from '@fairlead/api'
import { Link } from 'wouter'
import { Card } from '../../parts/page.tsx'
import { runsOf } from '../../words/describe-action.ts'
import { count } from '../../words/format.ts'

/** How many databases run what. A filled bar: nothing newer of its flavour is here. Each leads to the list. */
export function Versions({ databases }: { readonly databases: readonly Database[] }) {
  const most = Math.max(...groupsOf(databases).map(({ many }) => many), 1)
  return (
    <Card title="Versions">
      <ul className="bars">
        {groupsOf(databases).map(({ name, to, many, isNewest }) => (
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
            <span className="muted">{isNewest ? 'newest' : ''}</span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

function groupsOf(databases: readonly Database[]) {
  return [...Map.groupBy(databases, runsOf)]
    .map(([name, members]) => ({
      name,
      many: members.length,
      to: `/databases?version=${name.replace(' ', '-')}`,
      isNewest: members.every(({ upgradable_to }) => upgradable_to === null),
    }))
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))
}
