import type { Build } from '@fairlead/api'
import type { Catalogue } from '../../core/requests/resolve-upgrade.ts'
import { upgradableTo } from '../../core/requests/upgrade-targets.ts'
import type { Database } from '../../core/state/database.ts'
import type { Nodes } from '../../nodes/nodes-service.ts'
import type { Modules } from '../modules/modules-service.ts'

/** A database's newest possible upgrade target; null: it runs that. */
export type UpgradeHint = (database: Database) => Build | null

/** Age after which builds and modules are read again. */
const FRESH_MS = 2_000
/** A list does not wait longer for a slow agent. */
const WITHIN_MS = 300

/**
 * Hints for lists, without questions to engines, once per combination of engine and modules. Undefined while
 * the builds are unknown. `now` is Unix milliseconds.
 */
export function createUpgradeHints(deps: {
  readonly nodes: Pick<Nodes, 'builds'>
  readonly modules: Pick<Modules, 'list'>
  readonly now: () => number
}): () => Promise<UpgradeHint | undefined> {
  let known: { readonly at: number; readonly hint: UpgradeHint | undefined } | undefined
  let asked: Promise<UpgradeHint | undefined> | undefined
  const keep = (hint: UpgradeHint | undefined) => {
    known = { at: deps.now(), hint }
    return hint
  }
  const ask = async () => {
    try {
      return keep(hintFrom({ builds: await deps.nodes.builds(), modules: await deps.modules.list() }))
    } catch {
      // The list comes without hints; the agent's failure is reported elsewhere.
      return keep(undefined)
    } finally {
      asked = undefined
    }
  }
  return () => {
    if (known !== undefined && deps.now() - known.at < FRESH_MS) return Promise.resolve(known.hint)
    asked ??= ask()
    return withinTime(asked, () => keep(known?.hint))
  }
}

/** Resolves to `answer`, or to `otherwise` after WITHIN_MS. */
async function withinTime<T>(answer: Promise<T>, otherwise: () => T): Promise<T> {
  const { promise: late, resolve } = Promise.withResolvers<T>()
  const timer = setTimeout(() => resolve(otherwise()), WITHIN_MS)
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

function hintFrom(catalogue: Catalogue): UpgradeHint {
  const hints = new Map<string, Build | null>()
  return (database) => {
    const { build, modules, replicas, persistence, evictionPolicy, cluster } = database
    const used = modules.map(({ uid }) => uid)
    const key = JSON.stringify([build, used, replicas, persistence, evictionPolicy, cluster])
    const known = hints.get(key)
    if (known !== undefined) return known
    const nothingLacks = { lackOfMemory: undefined, lackOfPorts: undefined }
    const subject = { ...database, ...nothingLacks, groups: database.groups.length, primaries: [] }
    const found = upgradableTo(subject, catalogue) ?? null
    hints.set(key, found)
    return found
  }
}
