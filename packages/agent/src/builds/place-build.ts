import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Build, FoundBuild } from '@fairlead/api'
import { codeOf, matchesVersion } from '@fairlead/engine'
import { FetchError } from './fetch-error.ts'
import { createBuildFinder } from './find-builds.ts'

interface Sought extends Build {
  readonly folder: string
  readonly signal?: AbortSignal | undefined
}

/** Finds the newest build of the folder whose version begins with the wanted one. */
export async function findPresent({
  folder,
  flavour,
  version,
  signal,
}: Sought): Promise<FoundBuild | undefined> {
  const builds = await createBuildFinder({ path: '', folder }).list(signal)
  return builds.findLast((build) => build.flavour === flavour && matchesVersion(build.version, version))
}

/**
 * Moves the finished build to `<folder>/<flavour>-<version>`; throws FetchError. A working build there stays,
 * because it is from a faster fetch and may be running; a broken one is moved to `aside`. With `replace` a
 * working build is replaced, too: processes that run it keep their files.
 */
export async function placeBuild(
  sought: Sought & { readonly made: string; readonly aside: string; readonly replace?: boolean },
): Promise<FoundBuild> {
  const { folder, flavour, version, made, aside, replace = false } = sought
  const target = join(folder, `${flavour}-${version}`)
  if (replace) await moveAway(target, aside)
  const isFree = await moveInto(target, made)
  const present = await findPresent(sought)
  if (present) return present
  if (!isFree) {
    await moveAway(target, aside)
    await moveInto(target, made)
    const replaced = await findPresent(sought)
    if (replaced) return replaced
  }
  throw new FetchError(
    'does_not_start',
    `${flavour} ${version} was put into ${target} and does not start there`,
  )
}

/** Returns false if something else is there. */
async function moveInto(target: string, made: string): Promise<boolean> {
  try {
    await rename(made, target)
    return true
  } catch (cause) {
    if (['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(codeOf(cause))) return false
    throw cause
  }
}

async function moveAway(target: string, aside: string): Promise<void> {
  try {
    await rename(target, aside)
  } catch (cause) {
    // Another fetch of the same build was faster.
    if (codeOf(cause) !== 'ENOENT') throw cause
  }
}
