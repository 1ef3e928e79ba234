import type { Database, Output, operations } from '@fairlead/api'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { api } from '../../live/api.ts'
import { keys } from '../../live/keys.ts'
import { useIsStale } from '../../live/live-state.ts'
import { useMay } from '../../live/permissions.ts'
import { useDeletionPlan } from '../../live/queries.ts'
import { useOrder } from '../../live/use-order.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Card } from '../../parts/page.tsx'
import { Answer, Obstacles, Problem } from '../../parts/problem.tsx'
import { SettingsList } from '../../parts/settings-list.tsx'
import { bytes, count, fullTime, plural } from '../../words/format.ts'

/** Deletes a database. At the end of its page, far from similar buttons. */
export function DeletionCard({ database }: { readonly database: Database }) {
  const may = useMay()
  const isStale = useIsStale()
  const [isAsked, ask] = useState(false)
  const remove = useDeletion(database.uid)
  if (!may('delete_bdb', database.uid)) return null
  return (
    <Card title="Delete">
      <p className="muted above-button">All its data, on disk too. Backups stay.</p>
      <button
        type="button"
        className="button"
        disabled={isStale || remove.isPending}
        onClick={() => ask(true)}
      >
        Delete this database…
      </button>
      {remove.error !== null && <Problem error={remove.error} />}
      {isAsked && (
        <Question
          database={database}
          onNo={() => ask(false)}
          onYes={() => {
            ask(false)
            remove.mutate()
          }}
        />
      )}
    </Card>
  )
}

function useDeletion(uid: number) {
  const [, go] = useLocation()
  const client = useQueryClient()
  return useOrder({
    mutationFn: () => api.deleteDatabase({ params: { uid } }),
    onSuccess: ({ action_uid: action }) => go(action === undefined ? '/databases' : `/actions/${action}`),
    onSettled: () => client.invalidateQueries({ queryKey: keys.databases }),
  })
}

interface QuestionProps {
  readonly database: Database
  readonly onNo: () => void
  readonly onYes: () => void
}

/** The effects of a deletion now. The name must be typed, because buttons are pressed by habit. */
function Question({ database: { uid, name, action_uid: action }, onNo, onYes }: QuestionProps) {
  const plan = useDeletionPlan(uid)
  const isStale = useIsStale()
  const [typed, type] = useState('')
  const isOff = isStale || typed !== name || plan.data?.possible !== true
  const buttons = (
    <>
      <button type="button" className="button" onClick={onNo}>
        Keep
      </button>
      <button type="submit" form="deletion" className="button button-bad" disabled={isOff}>
        Delete {name}
      </button>
    </>
  )
  return (
    <Dialog title={`Delete ${name}, with all its data?`} onClose={onNo} buttons={buttons}>
      <Answer of={plan} height={120}>
        {(now) => <WhatEnds plan={now} />}
      </Answer>
      {plan.data?.possible === true && (
        <TypedName name={name} typed={typed} type={type} submit={() => !isOff && onYes()} />
      )}
      {plan.data?.possible === false && action !== undefined && (
        <Link href={`/actions/${action}`}>Watch the change that runs</Link>
      )}
    </Dialog>
  )
}

interface TypedNameProps {
  readonly name: string
  readonly typed: string
  readonly type: (typed: string) => void
  readonly submit: () => void
}

function TypedName({ name, typed, type, submit }: TypedNameProps) {
  return (
    <form
      id="deletion"
      className="form"
      autoComplete="off"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <label>
        Type {name} to delete it
        <input value={typed} onChange={(event) => type(event.target.value)} autoComplete="off" />
      </label>
    </form>
  )
}

type Plan = NonNullable<Output<typeof operations.deleteDatabase>['plan']>

function WhatEnds({ plan }: { readonly plan: Plan }) {
  const { clients, keys: held, shards, standbys, last_saved_time: saved, obstacles } = plan
  const rows: readonly (readonly [string, string])[] = [
    ['Clients now', clients === null ? 'not known' : count(clients)],
    ['Keys', held === null ? 'not known' : count(held)],
    [
      'Processes that end',
      standbys.length === 0
        ? count(shards)
        : `${count(shards)}, of which ${count(standbys.length)} are the way back`,
    ],
    ['Last snapshot, deleted too', saved === null ? 'none' : fullTime(saved)],
    ['Memory given back', plan.memory_used === null ? 'not known' : bytes(plan.memory_used)],
  ]
  return (
    <>
      {obstacles.length > 0 && (
        <div className="problem" role="alert">
          <Obstacles obstacles={obstacles} />
        </div>
      )}
      <SettingsList of={rows} />
      {plan.possible && clients !== null && clients > 0 && (
        <p data-tone="bad">{plural(clients, 'client is', 'clients are')} connected and will be cut off.</p>
      )}
    </>
  )
}
