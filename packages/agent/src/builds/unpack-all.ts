import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readAptFailure } from './read-apt-failure.ts'
import { runProgram } from './run-program.ts'

const unpackDeadlineMs = 60_000

/** Unpacks all .deb files of `debs` into the existing folder `root`. Throws FetchError. */
export async function unpackAll(
  debs: string,
  root: string,
  {
    env,
    signal,
  }: { readonly env?: NodeJS.ProcessEnv | undefined; readonly signal?: AbortSignal | undefined },
): Promise<void> {
  const setting = { LC_ALL: 'C' }
  for (const name of (await readdir(debs)).filter((file) => file.endsWith('.deb'))) {
    const args = ['--extract', join(debs, name), root]
    const end = await runProgram({
      program: 'dpkg-deb',
      args,
      deadlineMs: unpackDeadlineMs,
      env,
      setting,
      signal,
    })
    if (end.code !== 0) throw readAptFailure(`unpacking ${name}`, end)
  }
}
