import { type Action, nextCommand } from '@fairlead/api'
import { useOwnNow } from '../../live/clock.ts'
import { useAvailability } from '../../live/queries.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { MarkView } from '../../parts/mark.tsx'
import { Card } from '../../parts/page.tsx'
import { markOfService } from '../../words/describe-database.ts'
import { ago } from '../../words/format.ts'
import { WaitReason } from './headline.tsx'

/** Facts for a person on call, always in this order: clients, data, the wait, safety, the way back. */
export function SafetyCard({ action, name }: { readonly action: Action; readonly name: string }) {
  const { data } = useAvailability(action.bdb_uid)
  const { warnings, waiting, phase, hold_reason: hung } = action
  const { rollback } = action.orders
  // A person must end a hanging process, or the upgrade stays stuck.
  const isSafe = phase === 'stuck' && hung !== 'shard_hung' && data?.served === true && warnings.length === 0
  return (
    <Card className="safety">
      <dl>
        <dt>Clients</dt>
        <dd>
          <Clients uid={action.bdb_uid} />
        </dd>
        <dt>Data</dt>
        <dd>{warnings.length === 0 ? 'No loss known' : <Warnings of={warnings} />}</dd>
        {waiting !== null && (
          <>
            <dt>Waits for</dt>
            <dd>
              <WaitReason waiting={waiting} />
            </dd>
          </>
        )}
        {isSafe && (
          <>
            <dt>Safest</dt>
            <dd>Wait: clients are served, and nothing gets worse</dd>
          </>
        )}
        {phase === 'stuck' && (
          <>
            <dt>Way back</dt>
            <dd>{rollback.ok ? rollback.consequence : `not now: ${rollback.why}`}</dd>
            <Next action={action} name={name} />
          </>
        )}
      </dl>
    </Card>
  )
}

/** The next thing to do, with its reason and command. The buttons are at the top. */
function Next({ action, name }: { readonly action: Action; readonly name: string }) {
  const next = nextCommand(action, name)
  if (next === null) return null
  return (
    <>
      <dt>Next</dt>
      <dd>
        {next.why}
        <span className="command">
          <code>{next.command}</code>
          <CopyButton text={next.command} label="Copy the command" />
        </span>
      </dd>
    </>
  )
}

function Clients({ uid }: { readonly uid: number | null }) {
  const { data, dataUpdatedAt } = useAvailability(uid)
  const now = useOwnNow()
  if (data === undefined) return 'asking…'
  return (
    <>
      <MarkView mark={markOfService(data.served)} />{' '}
      <span className="muted">
        {data.why} · asked {ago(Math.min(dataUpdatedAt, now), now)}
      </span>
    </>
  )
}

function Warnings({ of: warnings }: { readonly of: readonly string[] }) {
  return (
    <ul>
      {warnings.map((each) => (
        <li key={each}>{each}</li>
      ))}
    </ul>
  )
}
