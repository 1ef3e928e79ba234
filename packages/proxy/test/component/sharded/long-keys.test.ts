import { ARRAY, createReplyScanner, encodeCommand, PUSH, parseReply, scanReply } from '@fairlead/engine'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Cluster, keyOf, makeCluster } from '../../sharded-stage.ts'
import { dial, until } from '../../stage.ts'

let cluster: Cluster
beforeAll(async () => {
  cluster = await makeCluster()
})
afterAll(async () => cluster[Symbol.asyncDispose]())

const KEY_BYTES = 500_000
const KEYS_OF_A_GROUP = 3

test('a long answer of all groups is sent completely, and no message comes in the middle of it', async () => {
  await using other = await dial(cluster.port)
  for (const key of keyOf)
    for (let n = 0; n < KEYS_OF_A_GROUP; n += 1) {
      other.socket.write(encodeCommand(['SET', `{${key}}${n}${'k'.repeat(KEY_BYTES)}`, 'v']))
      await other.gets('+OK\r\n')
    }
  await using client = await dial(cluster.port)
  client.send('HELLO 3\r\n')
  await until(() => client.text().includes('modules'))
  client.send('SUBSCRIBE news\r\n')
  await until(() => client.text().endsWith(':1\r\n'))
  const from = client.text().length
  client.send('KEYS *\r\nPING\r\n')
  for (let n = 0; n < 300; n += 1) {
    other.send('PUBLISH news hello\r\n')
    await new Promise((tell) => setImmediate(tell))
  }
  await until(() => client.text().includes('+PONG\r\n'))
  const told = Buffer.from(client.text().slice(from), 'latin1')
  const scanner = createReplyScanner()
  let lists = 0
  for (let at = 0; at < told.length; ) {
    const end = scanReply(scanner, told, at)
    if (end < 0) break // the last message is on its way
    if (scanner.type === ARRAY) {
      lists += 1
      const keys = parseReply(told.subarray(at, end))
      const lengths = Array.isArray(keys) ? keys.map((key) => String(key).replace(/^\{.*\}/, '').length) : []
      expect(lengths).toEqual(keyOf.flatMap(() => Array(KEYS_OF_A_GROUP).fill(KEY_BYTES + 1)))
    } else expect([PUSH, '+'.charCodeAt(0)]).toContain(scanner.type)
    at = end
  }
  expect([lists, scanner.error]).toEqual([1, undefined])
})

test('a long answer to SCAN is sent completely, in its place, and with a cursor that goes on at the next group', async () => {
  await using other = await dial(cluster.port)
  for (const key of keyOf) {
    other.socket.write(encodeCommand(['SET', `{${key}}scan${'s'.repeat(KEY_BYTES)}`, 'v']))
    await other.gets('+OK\r\n')
  }
  await using client = await dial(cluster.port)
  const found = new Set<string>()
  let answers = 0
  for (let cursor = '0', isFirst = true; isFirst || cursor !== '0'; isFirst = false) {
    client.send(
      `PING\r\nSCAN ${cursor} COUNT 1000\r\nCLIENT REPLY SKIP\r\nSCAN ${cursor} COUNT 1000\r\nECHO end\r\n`,
    )
    await until(() => client.text().endsWith('$3\r\nend\r\n'))
    const text = client.text()
    await client.gets(text)
    const answer = text.slice('+PONG\r\n'.length, -'$3\r\nend\r\n'.length)
    const parsed = parseReply(Buffer.from(answer, 'latin1'))
    if (!Array.isArray(parsed) || !Array.isArray(parsed[1])) throw new Error(answer.slice(0, 100))
    cursor = String(parsed[0])
    for (const key of parsed[1]) found.add(String(key).slice(0, 20))
    answers += 1
    expect(answers).toBeLessThan(100)
  }
  for (const key of keyOf) expect(found).toContain(`{${key}}scan${'s'.repeat(KEY_BYTES)}`.slice(0, 20))
})
