import { createRequire } from 'node:module'

const load = createRequire(import.meta.url)

/** A JSON value as YAML 1.2, in quotes where readers of YAML 1.1 take text for something else (`no`). The library is loaded only here: commands that print no YAML do not wait for it. */
export function toYaml(value: unknown): string {
  const { stringify } = load('yaml') as typeof import('yaml')
  return stringify(value, { lineWidth: 0, compat: 'yaml-1.1' })
}
