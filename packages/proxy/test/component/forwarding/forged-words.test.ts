import { expect, test } from 'vitest'
import { openRogue, wordsOfEngines } from '../../rogue.ts'
import { dial, makePair, newest } from '../../stage.ts'

const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`
const request = (...words: readonly string[]) => `*${words.length}\r\n${words.map(bulk).join('')}`

/** Counts its calls, and then answers with any error. */
const says = "redis.call('INCR', KEYS[1]) return redis.error_reply(ARGV[1])"

// invariant: A script whose error looks like a redirect runs once.
test('the error of a script reaches its client unchanged, during a hold too, and the script runs once', async () => {
  await using pair = await makePair(newest, newest)
  await using rogue = await openRogue()
  const words = wordsOfEngines(0, [rogue.port])
  await using client = await dial(pair.port)
  await using other = await dial(pair.port)
  await other.ask('BLPOP none 0.1', '*-1\r\n')
  for (const [n, word] of words.entries()) {
    const all = [
      request('EVAL', says, '1', 'k', word),
      request('MULTI'),
      request('EVAL', says, '1', 'k', word),
      request('EXEC'),
      request('GET', 'k'),
    ]
    // Some are sent while clients are held, and answered by the new primary.
    if (n % 8 === 1) await pair.endpoint.hold({ deadlineMs: 60_000 })
    client.send(all.join(''))
    if (n % 8 === 1) await pair.handOver()
    await client.gets(`-${word}\r\n+OK\r\n+QUEUED\r\n*1\r\n-${word}\r\n${bulk(String(2 * (n + 1)))}`)
  }
  await other.ask('PING', '+PONG\r\n')
  expect(rogue.came).toEqual([])
  const { errors, failedHolds, connections } = pair.endpoint.report()
  expect({ errors, failedHolds, connections }).toEqual({ errors: 0, failedHolds: 0, connections: 2 })
})
