import { expect, test } from 'vitest'
import { dial, makePair, newest, until } from '../../stage.ts'

/**
 * A new primary that answers WAITAOF for writes before they are on its disk would not be believed:
 * docs/explain/endpoint.md says for which it does.
 */
test('after the role has moved, WAITAOF refers to the writes that its connection sends from then on', async () => {
  await using pair = await makePair(newest, newest)
  // Without `appendfsync` the engine never says that a write is on its disk.
  for (const setting of ['appendfsync no', 'appendonly yes'])
    expect(await pair.b.admin(`CONFIG SET ${setting}`)).toBe('+OK\r\n')
  // The first file that it writes is brought to its disk whatever the setting.
  await until(async () => {
    const told = await pair.b.admin('INFO persistence')
    return ['aof_enabled:1', 'aof_rewrite_in_progress:0', 'aof_rewrite_scheduled:0'].every((each) =>
      told.includes(each),
    )
  })
  await using client = await dial(pair.port)
  await client.ask('SET before 1', '+OK\r\n')
  await pair.handOver()
  /** How many primaries, 0 or 1, have the writes of this connection on their disk. */
  const waitAof = async (ms: number) => {
    client.send(`WAITAOF 1 0 ${ms}\r\n`)
    const isWhole = /^\*2\r\n:(\d)\r\n:\d\r\n$/
    await until(() => isWhole.test(client.text()))
    const [text, count] = isWhole.exec(client.text()) ?? []
    await client.gets(text ?? '')
    return Number(count)
  }
  expect(await waitAof(0)).toBe(1)
  await client.ask('SET after 1', '+OK\r\n')
  expect(await waitAof(10)).toBe(0)
  await pair.b.admin('CONFIG SET appendfsync always')
  await client.ask('SET after 2', '+OK\r\n')
  expect(await waitAof(0)).toBe(1)
})
