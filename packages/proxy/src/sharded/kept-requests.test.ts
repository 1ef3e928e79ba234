import { expect, test } from 'vitest'
import { forgetRequest, forgetRequests, mayKeepRequest } from './kept-requests.ts'

const MB = 1024 * 1024

test('of a client 1 MB of requests is kept to be sent again, and 64 KB while all clients have 128 MB of them', () => {
  const makeClient = () => ({ keptBytes: 0, closed: false })
  const first = makeClient()
  expect([mayKeepRequest(first, MB - 1), mayKeepRequest(first, 2), mayKeepRequest(first, 1)]).toEqual([
    true,
    false,
    true,
  ])
  const others = Array.from({ length: 127 }, makeClient)
  expect(others.every((client) => mayKeepRequest(client, MB))).toBe(true)
  const late = makeClient()
  expect([mayKeepRequest(late, 64 * 1024), mayKeepRequest(late, 1)]).toEqual([true, false])
  // An answer and a close each make room, once.
  const [answered, closed] = others
  if (answered === undefined || closed === undefined) throw new Error('there are others')
  forgetRequest(answered, { request: Buffer.alloc(MB) })
  expect([mayKeepRequest(late, MB / 2), mayKeepRequest(late, MB / 2)]).toEqual([true, false])
  closed.closed = true
  forgetRequests(closed)
  forgetRequest(closed, { request: Buffer.alloc(MB) })
  expect(mayKeepRequest(closed, 1)).toBe(false)
  const next = makeClient()
  expect([mayKeepRequest(next, MB), mayKeepRequest(makeClient(), MB)]).toEqual([true, false])
  for (const client of [first, late, next, ...others]) forgetRequests(client)
})
