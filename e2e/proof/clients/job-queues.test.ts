import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { campaign } from '../../../proof/campaign.ts'
import { createDatabase } from '../../../proof/create-database.ts'
import { usualPair } from '../../../proof/engine-pairs.ts'
import { freshName } from '../../../proof/fresh-name.ts'
import { prepareQueues } from '../../../proof/queues/prepare-queues.ts'
import { jobQueues } from '../../../proof/queues/queues.ts'
import { startQueue } from '../../../proof/queues/start-queue.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'
import { thereAndBack } from '../../../proof/way-back.ts'

/** Upgrades and rollbacks under each queue. */
const TIMES = campaign().times('queues', 2)

let fairlead: Fairlead
beforeAll(async () => {
  await prepareQueues()
  fairlead = await startFairlead()
}, 600_000)
afterAll(() => fairlead[Symbol.asyncDispose]())

// invariant: Unmodified job queues do each job exactly once while their database is upgraded and rolled back.
test.each(Object.entries(jobQueues()))(
  '%s does every job exactly once while its database is upgraded, and rolled back',
  { timeout: (120 + 60 * TIMES) * 1_000 },
  async (name, queue) => {
    const { from } = usualPair()
    // BullMQ warns of others.
    const data = { memory_size: 0, eviction_policy: 'noeviction' as const }
    const body = { name: freshName('jobs'), engine_version: from, ...data }
    const { uid, port, password } = await createDatabase(fairlead, body)
    await using running = await startQueue(queue, { host: '127.0.0.1', port, password })
    const goOn = () => {
      const goal = running.done() + 30
      const what = () => `${name} goes on: ${running.trouble().slice(-1_000)}`
      return until(what, async () => running.done() >= goal)
    }
    await goOn()
    for (let n = 0; n < TIMES; n += 1) {
      await thereAndBack(fairlead, uid, goOn)
      await goOn()
    }
    const { accepted, ...found } = await running.finish()
    expect(found, `${accepted} jobs`).toEqual({ lost: [], repeated: [], trouble: '' })
    const log = await readFile(join(fairlead.home, 'proxy/proxy.log'), 'utf8')
    expect(log.split('\n').filter((line) => /client.*cut/.test(line) && line.includes(`"db${uid}"`))).toEqual(
      [],
    )
  },
)
