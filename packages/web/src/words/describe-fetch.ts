import type { EngineFetch } from '@fairlead/api'
import type { Mark } from './describe-action.ts'

const marks: Readonly<Record<EngineFetch['state'], Mark>> = {
  running: { sign: 'changing', tone: 'busy', label: 'running' },
  done: { sign: 'done', tone: 'ok', label: 'done' },
  failed: { sign: 'failed', tone: 'bad', label: 'failed' },
}

/** The state of a fetch, for a cell. */
export function markOfFetch({ state }: Pick<EngineFetch, 'state'>): Mark {
  return marks[state]
}

/** The build as it was asked for. */
export function nameOfFetch(fetch: Pick<EngineFetch, 'engine' | 'engine_version' | 'also_unstable'>): string {
  const { engine, engine_version: version, also_unstable: also } = fetch
  return `${engine} ${version ?? '(newest)'}${also ? ', also in development' : ''}`
}

/** What a fetch does now, what came of it, or why nothing did. */
export function sayFetch({
  progress,
  fetched,
  fault,
}: Pick<EngineFetch, 'progress' | 'fetched' | 'fault'>): string {
  if (fault !== null) return fault.message
  if (fetched === null) return progress
  const from = fetched.suite === undefined ? '' : `, from Debian's ${fetched.suite}`
  return `${fetched.engine} ${fetched.engine_version} is here${from}`
}
