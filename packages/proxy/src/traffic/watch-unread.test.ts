import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { UNREAD_MS, watchUnread } from './watch-unread.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

function watched() {
  const client = { bytesWritten: 0, writableLength: 0, writableNeedDrain: false }
  const state = { full: true, givenUp: 0 }
  watchUnread(
    client,
    () => state.full,
    () => {
      state.givenUp += 1
    },
  )
  return { client, state }
}

test('a client that stops reading after the most replies became pending is given up', () => {
  const { client, state } = watched()
  vi.advanceTimersByTime(UNREAD_MS)
  expect(state.givenUp).toBe(0)
  client.writableNeedDrain = true
  vi.advanceTimersByTime(UNREAD_MS)
  expect(state.givenUp).toBe(1)
  vi.advanceTimersByTime(10 * UNREAD_MS)
  expect(state.givenUp).toBe(1)
})

test('a client is not given up while it takes bytes, while the engine owes replies, or when fewer are pending', () => {
  const { client, state } = watched()
  client.writableNeedDrain = true
  for (let n = 1; n <= 5; n += 1) {
    client.bytesWritten += 1
    vi.advanceTimersByTime(UNREAD_MS)
  }
  client.writableNeedDrain = false
  vi.advanceTimersByTime(5 * UNREAD_MS)
  state.full = false
  client.writableNeedDrain = true
  vi.advanceTimersByTime(5 * UNREAD_MS)
  expect(state.givenUp).toBe(0)
})
