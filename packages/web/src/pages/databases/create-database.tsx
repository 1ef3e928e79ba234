import { type Output, type operations, type Persistence, persistenceWords } from '@fairlead/api'
import { type FormEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { api } from '../../live/api.ts'
import { useIsStale } from '../../live/live-state.ts'
import { useMay } from '../../live/permissions.ts'
import { useBuilds } from '../../live/queries.ts'
import { useOrder } from '../../live/use-order.ts'
import { Card, Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { nameOfRuns, runsOf } from '../../words/describe-action.ts'
import { fieldsOf, persistences } from '../../words/describe-persistence.ts'
import { sayHoles } from '../../words/describe-target.ts'

const MIB = 1024 * 1024
type Build = Output<typeof operations.listEngineVersions>[number]

/** The form for a new database, with settings that allow upgrades without interruption. */
export function CreateDatabase() {
  const [, go] = useLocation()
  const isStale = useIsStale()
  const create = useOrder({
    mutationFn: (form: FormData) => api.createDatabase({ body: bodyOf(form) }),
    onSuccess: ({ uid }) => go(`/databases/${uid}`),
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    create.mutate(new FormData(event.currentTarget))
  }
  return (
    <Page title="New database" above={{ to: '/databases', label: 'Databases' }}>
      <Card className="form-card">
        <form className="form" onSubmit={submit}>
          <Fields />
          {create.error !== null && <Problem error={create.error} />}
          <div>
            <button type="submit" className="button button-main" disabled={create.isPending || isStale}>
              Create
            </button>
          </div>
        </form>
      </Card>
    </Page>
  )
}

function Fields() {
  return (
    <>
      <label>
        Name
        <input
          name="name"
          required
          maxLength={63}
          pattern="[A-Za-z0-9]([A-Za-z0-9_\-]{0,61}[A-Za-z0-9])?"
          aria-describedby="name-rule"
        />
        <span className="hint" id="name-rule">
          Letters, digits, - and _
        </span>
      </label>
      <EngineChoice />
      <div className="form-row">
        <label>
          Memory in MiB
          <input name="memory" type="number" min={1} max={1_048_576} required defaultValue={256} />
        </label>
        <label>
          Groups
          <input name="groups" type="number" min={1} max={64} required defaultValue={1} />
        </label>
      </div>
      <span className="hint">All groups share the memory; replicas take as much again</span>
      <label className="check">
        <input name="replication" type="checkbox" defaultChecked /> Replicated: each group has a second
        process
      </label>
      <PersistenceChoice />
    </>
  )
}

/** Shows the losses in a power failure for the chosen option. */
function PersistenceChoice() {
  const [chosen, choose] = useState<Persistence>('appendfsync-every-sec')
  return (
    <label>
      On disk
      <select
        name="persistence"
        value={chosen}
        aria-describedby="persistence-cost"
        onChange={(event) => choose(persistenceIn(event.target.value))}
      >
        {persistences.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <span className="hint" id="persistence-cost">
        {persistenceWords[chosen]}
      </span>
    </label>
  )
}

function persistenceIn(value: string): Persistence {
  return persistences.find((one) => one.value === value)?.value ?? 'appendfsync-every-sec'
}

function EngineChoice() {
  const may = useMay()
  const builds = useBuilds(may('view_cluster_info')).data
  const [chosen, choose] = useState<string | null>(null)
  if (builds === undefined) return null
  const first = builds.find(({ recommended }) => recommended)
  return (
    <label>
      Engine
      <select
        name="engine"
        value={chosen ?? (first === undefined ? '' : nameOfRuns(first))}
        onChange={(event) => choose(event.target.value)}
      >
        {builds.map((build) => (
          <option key={nameOfRuns(build)} value={nameOfRuns(build)}>
            {runsOf(build)}
            {sayBuild(build)}
          </option>
        ))}
      </select>
      <span className="hint">It can be upgraded later, while clients use the database</span>
    </label>
  )
}

/** Arguments for and against a build, after its name. */
function sayBuild({ recommended, known_holes: known }: Build): string {
  const { holes, tone } = sayHoles(known)
  const praise = recommended ? (tone === 'quiet' ? ['recommended'] : ['the least bad']) : []
  const said = [...praise, ...(holes === '' ? [] : [holes])]
  return said.length === 0 ? '' : ` (${said.join('; ')})`
}

function bodyOf(form: FormData) {
  const read = (name: string) => String(form.get(name) ?? '')
  return {
    name: read('name'),
    memory_size: Number(read('memory')) * MIB,
    shards_count: Number(read('groups')),
    replication: form.has('replication'),
    ...fieldsOf(persistenceIn(read('persistence'))),
    ...(form.has('engine') && { engine_version: read('engine') }),
  }
}
