import {
  createReplyScanner,
  createRequestScanner,
  encodeCommand,
  makeCommandTable,
  scanReply,
  scanRequest,
} from '@fairlead/engine'
import { expect, test } from 'vitest'
import { hasLookedEnough } from './turns.ts'

const nested = (deep: number) => Buffer.from(`${'*1\r\n'.repeat(deep)}:1\r\n`)

test('a long reply, or a request, of many small parts is a turn, however few there are of them', () => {
  const replies = createReplyScanner()
  const requests = createRequestScanner(makeCommandTable({}))
  for (const [count, isEnough] of [
    [100, false],
    [5_000, true],
    [100, false],
  ] as const) {
    // In two pieces: what was looked at in the first one counts.
    const reply = nested(count)
    scanReply(replies, reply.subarray(0, count), 0)
    scanReply(replies, reply.subarray(count), 0)
    expect(hasLookedEnough(replies)).toBe(isEnough)
    const request = encodeCommand(['MGET', ...Array.from({ length: count }, () => '')])
    scanRequest(requests, request.subarray(0, count), 0)
    scanRequest(requests, request.subarray(count), 0)
    expect(hasLookedEnough(requests)).toBe(isEnough)
  }
  scanRequest(requests, encodeCommand(['SET', 'k', 'x'.repeat(60_000)]), 0)
  expect(hasLookedEnough(requests)).toBe(false)
})
