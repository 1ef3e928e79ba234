import { expect, test } from 'vitest'
import { dial, everyBuild, makePair, newest, oldest, type RawClient, until } from '../../stage.ts'

async function changeIsTold(client: RawClient, key: string, change: () => Promise<unknown>): Promise<void> {
  await change()
  await client.gets(`>2\r\n$10\r\ninvalidate\r\n*1\r\n$${key.length}\r\n${key}\r\n`)
}

test.for([...new Set([oldest, everyBuild.find((build) => build.startsWith('valkey')) ?? newest])])(
  'CLIENT CACHING applies to the next command, or transaction, at the new primary: from %s',
  async (build) => {
    await using pair = await makePair(build, newest)
    await using client = await dial(pair.port)
    client.send('HELLO 3\r\n')
    await until(() => client.text().includes('modules'))
    await client.ask('PING', `${client.text()}+PONG\r\n`)
    await client.ask('CLIENT TRACKING ON OPTIN', '+OK\r\n')
    await client.ask('CLIENT CACHING YES', '+OK\r\n')
    await pair.handOver()
    const flushed = '>2\r\n$10\r\ninvalidate\r\n_\r\n'
    await client.ask('GET a', `${flushed}_\r\n`)
    await client.ask('GET b', '_\r\n')
    // Not of the one after it.
    await pair.primary().admin('SET b 1')
    await changeIsTold(client, 'a', () => pair.primary().admin('SET a 1'))
    await client.ask('CLIENT CACHING YES', '+OK\r\n')
    await client.ask('MULTI', '+OK\r\n')
    await client.ask('GET a', '+QUEUED\r\n')
    await pair.handOver()
    await client.ask('EXEC', `${flushed}*1\r\n$1\r\n1\r\n`)
    await pair.handOver()
    await client.ask('GET b', `${flushed}$1\r\n1\r\n`)
    await pair.primary().admin('SET b 2')
    await client.ask('PING', '+PONG\r\n')
    expect(client.text()).toBe('')
  },
)
