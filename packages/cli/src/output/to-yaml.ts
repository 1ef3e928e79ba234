import { createRequire } from 'node:module'

const load = createRequire(import.meta.url)

/** A value as YAML 1.2, quoted where YAML 1.1 readers would err (`no`). Loads the library on demand. */
export function toYaml(value: unknown): string {
  const { stringify } = load('yaml') as typeof import('yaml')
  return stringify(value, { lineWidth: 0, compat: 'yaml-1.1' })
}
