import { test as base } from 'vitest'
import { claimPorts } from '../../proof/claim-ports.ts'
import { type Fairlead, startFairlead } from '../../proof/start-fairlead.ts'

/**
 * A test with a whole `fairlead`, one for all files that a worker runs. A test that takes it kills none of
 * its processes, and leaves the settings of its cluster as they are. Its databases are deleted at the end of
 * its file.
 */
export const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads here which other fixtures this one needs
  .extend('fairlead', { scope: 'worker' }, async ({}, { onCleanup }) => {
    await using opened = new AsyncDisposableStack()
    // The proxy listens on it only seconds later: a port of the kernel's own choice may be that of a
    // connection by then.
    const { from } = opened.use(await claimPorts())
    const fairlead = opened.use(await startFairlead({ env: { FAIRLEAD_SENTINEL_PORT: String(from) } }))
    const owned = opened.move()
    onCleanup(() => owned.disposeAsync())
    return fairlead
  })
  .extend('tidy', { scope: 'file', auto: true }, async ({ fairlead }, { onCleanup }) => {
    onCleanup(() => deleteAll(fairlead))
  })

async function deleteAll({ api, untilEnded }: Fairlead): Promise<void> {
  const uids = (await api.listDatabases({})).map(({ uid }) => uid)
  const deletions = await Promise.all(uids.map((uid) => api.deleteDatabase({ params: { uid } })))
  for (const { action_uid } of deletions) await untilEnded(action_uid)
}
