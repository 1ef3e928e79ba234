import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HostileStage, makeHostileStage, PASSWORD } from '../../hostile/hostile-stage.ts'
import { dial, type RawClient, until } from '../../stage.ts'

let stage: HostileStage
beforeAll(async () => {
  stage = await makeHostileStage()
})
afterAll(() => stage[Symbol.asyncDispose]())

const CLIENTS = 30
const ROUNDS = 3
/**
 * Processor time: one client's turn with the rest of the round takes some milliseconds, all requests together
 * up to 200. The machine's noise is in some rounds, not in all.
 */
const LONGEST_TURN_MS = 10

const select = 'SELECT 0\r\n'.repeat(3_000)
const get = 'GET nothing\r\n'.repeat(1_000)
const deep = 'EVAL "local t={} for i=1,7000 do t[i]={{},{i}} end return t" 0\r\n'

// invariant: Many clients of one database do not delay another database.
test.for([
  ['plain', '3,000 requests that are noted', select, 3_000 * '+OK\r\n'.length],
  ['sharded', '1,000 requests', get, 1_000 * '$-1\r\n'.length],
  ['plain', 'lines of 30,000 words', `PING ${'a '.repeat(30_000)}\r\n`, '-'.length],
  ['sentinel', 'lines of 7,000 words', `PING ${'a '.repeat(7_000)}\r\n`, '-'.length],
  ['plain', 'replies of 14,000 lists', deep, 7_000 * '*2\r\n*0\r\n*1\r\n:1\r\n'.length],
] as const)(
  '%s: 30 clients send at once %s, and no turn of the loop is long',
  async ([at, , bytes, least]) => {
    const target = stage.targets.find(({ name }) => name === at)
    const longest: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const clients: RawClient[] = []
      for (let n = 0; n < CLIENTS; n += 1) {
        const client = await dial(target?.port ?? 0)
        clients.push(client)
        if (target?.hasLogin === true) await client.ask(`AUTH ${PASSWORD}\r\n`, '+OK\r\n')
        await client.ask('PING\r\n', '+PONG\r\n')
      }
      await stage.turns()
      for (const client of clients) client.send(bytes)
      await Promise.all(
        clients.map((client) =>
          until(
            () => client.ended() || client.text().length >= least,
            () => `${client.text().length}`,
          ),
        ),
      )
      longest.push((await stage.turns()).mostMs)
      for (const { socket } of clients) socket.destroy()
    }
    console.log(`${at}: the longest turns of the rounds ${longest.map((ms) => ms.toFixed(1)).join(', ')} ms`)
    expect(Math.min(...longest)).toBeLessThan(LONGEST_TURN_MS)
  },
)
