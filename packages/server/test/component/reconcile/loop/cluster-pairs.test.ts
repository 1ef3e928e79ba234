import { setTimeout as delay } from 'node:timers/promises'
import { readClusterNodes } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { obstacleInOneCluster } from '../../../../src/core/requests/resolve-upgrade.ts'
import { builds, startTestEngine, type TestEngine } from '../../../engine.ts'

// invariant: Two builds that cannot be in one cluster never are.
test('in one cluster every build names every other one by its address, but for the pairs that are refused', async () => {
  await using stack = new AsyncDisposableStack()
  const engines: TestEngine[] = []
  for (const build of builds)
    engines.push(stack.use(await startTestEngine(build, ['cluster-enabled yes', 'save ""'])))
  const byId = new Map<string, TestEngine>()
  for (const engine of engines) byId.set(String(await engine.admin.call('CLUSTER', 'MYID')), engine)
  const greetAll = async () => {
    for (const a of engines)
      for (const { admin } of engines)
        if (admin !== a.admin)
          await a.admin.call('CLUSTER', 'MEET', admin.address.host, admin.address.port).catch(() => undefined)
  }

  /** "redis 8.0.2 as valkey 9.1.2 names it", of those that are named by their address. */
  const named = async () => {
    const seen: string[] = []
    for (const { admin, build } of engines)
      for (const { id, address } of readClusterNodes(String(await admin.call('CLUSTER', 'NODES')))) {
        const other = byId.get(id)
        if (other !== undefined && other.admin !== admin && address.host === '127.0.0.1')
          seen.push(`${nameOf(other)} as ${nameOf({ build })} names it`)
      }
    return seen.toSorted()
  }
  const wanted = engines
    .flatMap((one) => engines.filter((other) => other !== one).map((other) => ({ one, other })))
    .filter(
      ({ one, other }) =>
        one.build.flavour === 'redis' || obstacleInOneCluster(one.build, other.build) === undefined,
    )
    .map(({ one, other }) => `${nameOf(other)} as ${nameOf(one)} names it`)
    .toSorted()
  // An engine believes the content of a node's messages only from the second message on, and forgets a
  // greeting that is not answered within its node timeout.
  const began = performance.now()
  for (let greetings = 0; JSON.stringify(await named()) !== JSON.stringify(wanted); await delay(50)) {
    const elapsedMs = performance.now() - began
    if (elapsedMs > 60_000) break
    if (elapsedMs < greetings * 20_000) continue
    await greetAll()
    greetings += 1
  }
  expect(await named()).toEqual(wanted)
})

function nameOf({ build: { flavour, version } }: Pick<TestEngine, 'build'>): string {
  return `${flavour} ${version}`
}
