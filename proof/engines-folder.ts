import { fileURLToPath } from 'node:url'

/** Where builds for tests, the demo and the benchmarks lie, each in a folder `flavour-version`. */
export function enginesFolder(): string {
  return process.env['FAIRLEAD_ENGINES'] ?? fileURLToPath(new URL('../.fairlead/engines', import.meta.url))
}
