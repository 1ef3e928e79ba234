import type { Action, Database } from '@fairlead/api'
import { Link } from 'wouter'
import { useQueryState } from '../../live/use-query-state.ts'
import { count, plural } from '../../words/format.ts'
import { servedElsewhere } from '../../words/served-elsewhere.ts'

interface CountsProps {
  readonly rows: readonly Database[]
  /** There are other pages. */
  readonly isPart: boolean
  readonly actions: readonly Action[]
}

/** The number of listed databases, and its difference from other counts. */
export function Counts({ rows, isPart, actions }: CountsProps) {
  const upgradable = rows.filter(
    ({ upgradable_to, action_uid }) => upgradable_to != null && action_uid === undefined,
  ).length
  return (
    <div className="muted table-note">
      <p>
        {plural(rows.length, 'database')}
        {isPart && ' on this page'}
        {upgradable > 0 && ` · ${upgradable} can be upgraded`}
      </p>
      <ByRecord rows={rows} isPart={isPart} actions={actions} />
    </div>
  )
}

/** Overview and builds count what serves. The version filter uses the old version until an upgrade ends. */
function ByRecord({ rows, isPart, actions }: CountsProps) {
  const [version] = useQueryState('version')
  const [q] = useQueryState('q')
  const [status] = useQueryState('status')
  if (version === '') return null
  const open = actions.filter(({ phase }) => phase !== 'ended')
  const { away, others } = servedElsewhere(rows, open, version)
  const name = version.replace('-', ' ')
  // It is unknown which of the others the other filters would select.
  const isAll = q === '' && status === '' && !isPart
  const listed = rows.length - away
  return (
    <>
      {away > 0 && (
        <p>
          {count(away)} of these {away === 1 ? 'is' : 'are'} served by another version by now, in an{' '}
          <Link href="/actions?status=active">upgrade that has not ended</Link>.
        </p>
      )}
      {others > 0 && isAll && (
        <p>
          {count(listed)} of {count(listed + others)} that {name} serves: the rest are listed under their old
          version until <Link href="/actions?status=active">their upgrades</Link> end.
        </p>
      )}
    </>
  )
}
