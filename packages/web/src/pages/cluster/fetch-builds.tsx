import type { EngineFetch, operations, Sent } from '@fairlead/api'
import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useEffect } from 'react'
import { api } from '../../live/api.ts'
import { useNow } from '../../live/clock.ts'
import { keys } from '../../live/keys.ts'
import { useIsStale } from '../../live/live-state.ts'
import { useFetches } from '../../live/queries.ts'
import { useOrder } from '../../live/use-order.ts'
import { MarkView } from '../../parts/mark.tsx'
import { Card } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { markOfFetch, nameOfFetch, sayFetch } from '../../words/describe-fetch.ts'
import { ago } from '../../words/format.ts'

type Wanted = Sent<typeof operations.fetchEngineVersion>['body']

const engines = ['valkey', 'redis', 'redict'] as const satisfies readonly Wanted['engine'][]

/** The form for a build to fetch, and the last fetches. */
export function FetchBuilds() {
  const fetches = useFetches().data ?? []
  const client = useQueryClient()
  const ended = fetches.map(({ fetch_uid, ended_time }) => ended_time && fetch_uid).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: each fetch that ends may have brought a build
  useEffect(() => {
    void client.invalidateQueries({ queryKey: keys.builds, exact: true })
  }, [client, ended])
  return (
    <>
      <Card title="Fetch a build" className="below-settings">
        <FetchForm />
      </Card>
      {fetches.length > 0 && <FetchTable fetches={fetches} />}
    </>
  )
}

function FetchForm() {
  const isStale = useIsStale()
  const client = useQueryClient()
  const fetch = useOrder({
    mutationFn: (body: Wanted) => api.fetchEngineVersion({ body }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.fetches }),
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    fetch.mutate(readForm(new FormData(event.currentTarget)))
  }
  return (
    <form className="form" onSubmit={submit} autoComplete="off">
      <div className="form-row form-card">
        <label>
          Engine
          <select name="engine">
            {engines.map((engine) => (
              <option key={engine}>{engine}</option>
            ))}
          </select>
        </label>
        <label>
          Version
          <input
            name="version"
            pattern="\d{1,4}(\.\d{1,4}){0,2}"
            title="Like 8.1 or 8.1.1"
            aria-describedby="fetched-version"
          />
        </label>
      </div>
      <span className="hint" id="fetched-version">
        Like 8.1 or 8.1.1; empty: the newest of a stable suite of Debian
      </span>
      <label className="check">
        <input name="unstable" type="checkbox" /> Also from Debian's suites in development
      </label>
      {fetch.error !== null && <Problem error={fetch.error} />}
      <div>
        <button type="submit" className="button button-main" disabled={isStale || fetch.isPending}>
          Fetch
        </button>
      </div>
    </form>
  )
}

function readForm(form: FormData): Wanted {
  const version = String(form.get('version')).trim()
  return {
    engine: engines.find((engine) => engine === form.get('engine')) ?? 'valkey',
    ...(version !== '' && { engine_version: version }),
    also_unstable: form.has('unstable'),
  }
}

const columnsAt = (now: number): readonly Column<EngineFetch>[] => [
  { name: 'Fetch', wraps: true, cell: nameOfFetch },
  {
    name: 'State',
    cell: (fetch) => (
      <span role="status">
        <MarkView mark={markOfFetch(fetch)} />
      </span>
    ),
  },
  { name: 'What it says', wraps: 'long', cell: sayFetch },
  { name: 'Begun', cell: ({ started_time: started }) => ago(started, now) },
]

function FetchTable({ fetches }: { readonly fetches: readonly EngineFetch[] }) {
  const columns = columnsAt(useNow())
  return <Table label="Fetches" columns={columns} keyOf={({ fetch_uid }) => fetch_uid} rows={fetches} />
}
