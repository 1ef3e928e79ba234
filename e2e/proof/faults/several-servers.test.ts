import type { Action } from '@fairlead/api'
import { startLoad } from '@fairlead/ledger'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startPostgres, type TestPostgres } from '../../../packages/server/test/postgres.ts'
import { postgresHere } from '../../../packages/server/test/postgres-here.ts'
import { usualPair } from '../../../proof/engine-pairs.ts'
import { until } from '../../../proof/until.ts'
import { type Member, startServers } from '../../support/start-servers.ts'

const { from, to } = usualPair()
/** A signal; or its connection to PostgreSQL is cut. */
type Fault = 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'cut off'
const faults: readonly Fault[] = ['SIGKILL', 'SIGTERM', 'SIGSTOP', 'cut off']

let postgres: TestPostgres | undefined
beforeAll(async () => {
  if (postgresHere() !== null) postgres = await startPostgres()
})
afterAll(() => postgres?.[Symbol.asyncDispose]())

// invariant: Of several servers one works on a database.
test.skipIf(postgresHere() === null)(
  'two servers on one PostgreSQL: an upgrade goes on when the server that carries it out is killed, stopped, paused beyond its lease, or cut off',
  { timeout: 300_000 },
  async () => {
    if (postgres === undefined) throw new Error('there is no PostgreSQL')
    await using servers = await startServers(postgres, 2)
    const { fairlead, members } = servers
    const [one, other] = members
    if (one === undefined || other === undefined) throw new Error('there are not two')
    const created = await one.api.createDatabase({
      body: { name: 'shared', memory_size: 0, replication: true, engine_version: from },
    })
    await fairlead.untilEnded(created.action_uid)
    const { uid, authentication_engine_pass: password = '' } = await one.api.getDatabase({
      params: { uid: created.uid },
    })
    await using load = await startLoad({
      kind: 'incr',
      connections: 4,
      perSecond: 1_000,
      password,
      lookup: { url: `${fairlead.url}/v1/bdbs/${uid}`, token: fairlead.token },
    })
    for (const how of faults) {
      await load.untilAcked(load.acked() + 100)
      // Requested at any server: the server that holds the database learns of it.
      const asked = how === 'SIGTERM' ? one.api : other.api
      const body =
        how === faults[0] ? { engine_version: to } : { force_restart: true, keep_engine_version: true }
      const { action_uid: actionUid = '' } = await asked.upgradeDatabase({ params: { uid }, body })
      expect(actionUid, how).not.toBe('')
      await until('it has begun', async () => {
        const { progress } = await asked.getAction({ params: { uid: actionUid } })
        return progress > 0
      })
      const holder = await until('a server holds it', () => servers.holderOf(uid))
      await inject(holder, how)
      const left = holder === one ? other : one
      let seen: Action | undefined
      const action = await until(
        () => `the upgrade ends after ${how} of ${holder.name}: ${JSON.stringify(seen)}`,
        async () => {
          seen = await left.api.getAction({ params: { uid: actionUid } }).catch(() => seen)
          return seen?.status === 'completed' || seen?.status === 'failed' ? seen : undefined
        },
        { withinMs: 120_000, everyMs: 50 },
      )
      expect(action, how).toMatchObject({ status: 'completed' })
      await repair(holder, how)
      await servers.untilAllHoldSome()
    }
    await load.untilAcked(load.acked() + 100)
    await load.stop()
    const { lost, duplicated } = await load.readBack()
    expect({ lost, duplicated }).toEqual({ lost: 0, duplicated: 0 })
  },
)

async function inject({ server, way }: Member, how: Fault): Promise<void> {
  if (how === 'cut off') way.stop()
  else if (how === 'SIGSTOP') process.kill(server.pid, how)
  else await server.end(how)
}

async function repair({ server, way }: Member, how: Fault): Promise<void> {
  if (how === 'cut off') await way.restart()
  else if (how === 'SIGSTOP') process.kill(server.pid, 'SIGCONT')
  else await server.start()
}
