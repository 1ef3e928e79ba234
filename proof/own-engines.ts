import { cpSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { enginesFolder } from './engines-folder.ts'

/** A folder of builds. */
export interface OwnEngines extends Disposable {
  readonly folder: string
}

/**
 * Builds in a folder of the test's own: `kept` as they are, and a copy of `copied`, which the test may break.
 */
export function ownEngines(kept: readonly string[], copied: string): OwnEngines {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-engines-'))
  for (const name of kept) symlinkSync(join(enginesFolder(), name), join(folder, name))
  cpSync(join(enginesFolder(), copied), join(folder, copied), { recursive: true })
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}

/**
 * From now on a build of valkey still prints its version, so the catalogue lists it; it says `words` and dies
 * when it gets a configuration.
 */
export function breakBuild(folder: string, name: string, words: string): void {
  const program = join(folder, name, 'bin', 'valkey-server')
  renameSync(program, `${program}.real`)
  writeFileSync(
    program,
    `#!/bin/sh\n[ "$1" = --version ] && exec "$0.real" --version\necho '${words}' >&2\nexit 1\n`,
    { mode: 0o755 },
  )
}

/** The build is as before it was broken. */
export function mendBuild(folder: string, name: string): void {
  const program = join(folder, name, 'bin', 'valkey-server')
  renameSync(`${program}.real`, program)
}
