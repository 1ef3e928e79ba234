import type { Database } from '@fairlead/api'
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { api } from '../../live/api.ts'
import { serverNow } from '../../live/clock.ts'
import { useIsStale } from '../../live/live-state.ts'
import { useMay } from '../../live/permissions.ts'
import {
  requestOf,
  sayChoice,
  type UpgradeChoice,
  type UpgradeRequest,
  useUpgradeChoice,
} from '../../live/upgrade-choice.ts'
import { useDatabaseByName } from '../../live/use-database-by-name.ts'
import { useOrder } from '../../live/use-order.ts'
import { Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Version } from '../../parts/version.tsx'
import { NoDatabase } from '../databases/no-database.tsx'
import { Options } from './options.tsx'
import { PlanView } from './plan-view.tsx'
import { Targets } from './targets.tsx'

/** Choose, check the plan of a dry run that started the target, and begin. */
export function UpgradePage({ name }: { readonly name: string }) {
  const { data: database, error, refetch } = useDatabaseByName(name)
  if (database === null) return <NoDatabase name={name} />
  if (database !== undefined) return <Upgrade database={database} />
  return (
    <Page title="Upgrade">
      {error === null ? (
        <div className="skeleton" style={{ minHeight: 320 }} />
      ) : (
        <Problem error={error} retry={refetch} />
      )}
    </Page>
  )
}

function Upgrade({ database }: { readonly database: Database }) {
  const [choice, change] = useUpgradeChoice()
  const request = requestOf(choice, database)
  const { plan, start, dryRun } = usePlan(database.uid)
  const { uid, name } = database
  const { data } = plan
  const goal = choice.to === 'same' ? 'new processes' : choice.to.replace('-', ' ')
  const from = (
    <span className="does">
      <Version of={database} /> {goal !== '' && `→ ${goal}`}
    </span>
  )
  return (
    <Page title={`Upgrade ${name}`} above={{ to: `/databases/${uid}`, label: name }} beside={from}>
      {database.action_uid !== undefined && (
        <p className="banner">
          Another change of this database runs: nothing can begin before it ends.{' '}
          <Link href={`/actions/${database.action_uid}`}>Watch it</Link>
        </p>
      )}
      <Choices choice={choice} plan={data?.at ?? null}>
        <Targets database={database} chosen={choice.to} choose={(to) => change({ to })} />
        <Options database={database} choice={choice} change={change} />
        <DryRun
          uid={uid}
          isMain={data === undefined}
          isReady={choice.to !== ''}
          isRunning={plan.isPending}
          run={() => dryRun(request)}
        />
      </Choices>
      <DryRunAnswer of={data?.at ?? plan.error}>
        {plan.error !== null && <Problem error={plan.error} />}
        {data?.plan !== undefined && (
          <PlanView
            {...{ database, start, request: data.body, plan: data.plan, at: data.at }}
            isOther={JSON.stringify(data.body) !== JSON.stringify(request)}
            again={() => dryRun(request)}
          />
        )}
      </DryRunAnswer>
    </Page>
  )
}

/** The last dry run, and the upgrade, which begins only while its plan is valid. */
function usePlan(uid: number) {
  const [, go] = useLocation()
  const plan = useMutation({
    mutationFn: async (body: UpgradeRequest) => {
      const answer = await api.upgradeDatabase({ params: { uid }, query: { dry_run: 'true' }, body })
      return { body, at: new Date(serverNow()).toISOString(), plan: answer.plan }
    },
  })
  const start = useOrder({
    mutationFn: ({ body, basis }: { readonly body: UpgradeRequest; readonly basis: string }) =>
      api.upgradeDatabase({ params: { uid }, body, basis }),
    onSuccess: ({ action_uid: action }) =>
      go(action === undefined ? `/databases/${uid}` : `/actions/${action}`),
  })
  const dryRun = (request: UpgradeRequest) => {
    start.reset()
    plan.mutate(request)
  }
  return { plan, start, dryRun }
}

interface DryRunProps {
  readonly uid: number
  /** After a plan, the upgrade is the next thing. */
  readonly isMain: boolean
  readonly isReady: boolean
  readonly isRunning: boolean
  readonly run: () => void
}

function DryRun({ uid, isMain, isReady, isRunning, run }: DryRunProps) {
  const isAllowed = useMay()('update_bdb_with_action', uid)
  const isStale = useIsStale()
  return (
    <div className="run">
      <button
        type="button"
        className={`button ${isMain ? 'button-main' : ''}`}
        disabled={!isReady || isRunning || !isAllowed || isStale}
        onClick={run}
      >
        {isRunning ? 'Starting the new version…' : 'Dry run'}
      </button>
      <span className="muted">
        {isAllowed
          ? 'starts the new version in a process of its own, and removes it again; changes nothing'
          : 'needs the permission update_bdb_with_action'}
      </span>
    </div>
  )
}

interface ChoicesProps {
  readonly choice: UpgradeChoice
  /** Identifies the plan that is shown below; null: none yet. */
  readonly plan: string | null
  readonly children: ReactNode
}

/** The choices. On a phone they fold to one line once there is a plan. */
function Choices({ choice, plan, children }: ChoicesProps) {
  const [openedFor, setOpenedFor] = useState<string | null>(null)
  return (
    <div className="choices" data-folded={plan !== null && openedFor !== plan}>
      <p className="choices-line">
        <span>{sayChoice(choice)}</span>
        <button type="button" className="button" onClick={() => setOpenedFor(plan)}>
          Change the choice
        </button>
      </p>
      <div className="choices-all">{children}</div>
    </div>
  )
}

/** Visible height of an answer, in pixels: its first sentences. */
const SEEN_PX = 240

/** A dry run's answer. Takes the focus, and scrolls into view. `of` differs for each answer; null: none. */
function DryRunAnswer({ of, children }: { readonly of: unknown; readonly children: ReactNode }) {
  const answer = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    const element = answer.current
    if (of === null || element === null) return
    element.focus({ preventScroll: true })
    const { top } = element.getBoundingClientRect()
    if (top < 0 || top + SEEN_PX > innerHeight) element.scrollIntoView()
  }, [of])
  return (
    <section ref={answer} className="answer" aria-label="Answer of the dry run" tabIndex={-1}>
      {children}
    </section>
  )
}
