import { type Output, type operations, persistenceWords, safeDefaults } from '@fairlead/api'
import { type ReactNode, useState } from 'react'
import { useMay } from '../../live/permissions.ts'
import { useBuilds, useModules } from '../../live/queries.ts'
import { sayReplicas } from '../../words/database-forms.ts'
import { nameOfRuns, runsOf } from '../../words/describe-action.ts'
import { persistenceIn, persistences } from '../../words/describe-persistence.ts'
import { sayHoles } from '../../words/describe-target.ts'
import { evictionNames, sayEviction } from '../../words/eviction.ts'

type Build = Output<typeof operations.listEngineVersions>[number]

/** The fields of a new database, each choice with what it costs. */
export function CreationFields() {
  const may = useMay()
  return (
    <>
      <Described label="Name" name="name" hint="Letters, digits, - and _">
        <input
          id="name"
          name="name"
          required
          maxLength={63}
          pattern="[A-Za-z0-9]([A-Za-z0-9_\-]{0,61}[A-Za-z0-9])?"
          aria-describedby="name-cost"
        />
      </Described>
      <EngineChoice />
      <SizeChoice />
      <PersistenceChoice />
      <label>
        Eviction, when the memory is full
        <select name="eviction" defaultValue="volatile-lru">
          {evictionNames.map((one) => (
            <option key={one} value={one}>
              {sayEviction(one)}
            </option>
          ))}
        </select>
      </label>
      <Access />
      {may('view_cluster_modules') && <ModuleChoice />}
      <p className="muted">
        Memory, eviction, replicas and persistence can be changed later, and the engine be upgraded, while
        clients use the database. The rest stays as it is.
      </p>
    </>
  )
}

/** A field that is described by what it asks for or costs. The control has `name` as its id. */
function Described(props: {
  readonly label: string
  readonly name: string
  readonly hint: string
  readonly children: ReactNode
}) {
  const { label, name, hint, children } = props
  return (
    <div className="field">
      <label htmlFor={name}>{label}</label>
      {children}
      <span className="hint" id={`${name}-cost`}>
        {hint}
      </span>
    </div>
  )
}

/** Shards share the memory; replicas cost as much again. */
function SizeChoice() {
  const [memory, size] = useState('256')
  const [replicas, choose] = useState(safeDefaults.replication ? '1' : '0')
  return (
    <>
      <div className="form-row">
        <label>
          Memory in MiB
          <input
            name="memory"
            type="number"
            min={1}
            max={1_048_576}
            required
            value={memory}
            onChange={(event) => size(event.target.value)}
          />
        </label>
        <label>
          Shards
          <input
            name="shards"
            type="number"
            min={1}
            max={64}
            required
            defaultValue={1}
            aria-describedby="shards-cost"
          />
        </label>
      </div>
      <span className="hint" id="shards-cost">
        Shards share the memory and the keys; each is one process, and one processor core at most
      </span>
      <Described label="Replicas" name="replicas" hint={sayReplicas(replicas, Number(memory))}>
        <select
          id="replicas"
          name="replicas"
          value={replicas}
          aria-describedby="replicas-cost"
          onChange={(event) => choose(event.target.value)}
        >
          <option value="1">One for each shard</option>
          <option value="0">None</option>
        </select>
      </Described>
    </>
  )
}

/** Shows the losses in a power failure for the chosen option. */
function PersistenceChoice() {
  const [chosen, choose] = useState(persistenceIn(''))
  return (
    <Described label="Persistence" name="persistence" hint={persistenceWords[chosen]}>
      <select
        id="persistence"
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
    </Described>
  )
}

/** How clients reach it. */
function Access() {
  return (
    <>
      <div className="form-row">
        <Described label="Port" name="port" hint="Empty: Fairlead chooses one">
          <input id="port" name="port" type="number" min={1} max={65_535} aria-describedby="port-cost" />
        </Described>
        <Described label="Password" name="password" hint="Empty: one is generated">
          <input
            id="password"
            name="password"
            type="password"
            autoComplete="new-password"
            minLength={8}
            maxLength={256}
            pattern="[\x21-\x7e]+"
            aria-describedby="password-cost"
          />
        </Described>
      </div>
      <div className="field">
        <label className="check">
          <input name="tls" type="checkbox" aria-describedby="tls-cost" /> TLS: clients speak nothing else
        </label>
        <span className="hint" id="tls-cost">
          Without it, the password and all data can be read on the way. It costs processor time
        </span>
      </div>
      <div className="field">
        <label className="check">
          <input name="cluster-protocol" type="checkbox" aria-describedby="cluster-cost" /> Clients speak the
          cluster protocol
        </label>
        <span className="hint" id="cluster-cost">
          They know the shards, without the endpoint before them, and notice handovers
        </span>
      </div>
    </>
  )
}

/** The newest version of a module that the engine allows. Absent while the catalogue is empty. */
function ModuleChoice() {
  const names = [...new Set(useModules().data?.map(({ module_name: name }) => name))]
  if (names.length === 0) return null
  return (
    <fieldset className="checks">
      <legend>Modules</legend>
      {names.map((name) => (
        <label key={name} className="check">
          <input name="module" type="checkbox" value={name} /> {name}
        </label>
      ))}
    </fieldset>
  )
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
