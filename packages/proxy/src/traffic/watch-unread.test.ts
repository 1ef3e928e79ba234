import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { UNREAD_MS, watchUnread } from './watch-unread.ts'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

function watched() {
  const client = {
    bytesWritten: 0,
    destroyed: false,
    writableLength: 0,
    writableNeedDrain: false,
    isPaused: () => state.paused,
  }
  const state = { paused: true, excused: false, givenUp: 0 }
  watchUnread(
    client,
    () => state.excused,
    () => {
      state.givenUp += 1
    },
  )
  return { client, state }
}

test('a paused client that stops taking replies later is given up, once', () => {
  const { client, state } = watched()
  vi.advanceTimersByTime(UNREAD_MS)
  expect(state.givenUp).toBe(0)
  client.writableNeedDrain = true
  vi.advanceTimersByTime(UNREAD_MS)
  expect(state.givenUp).toBe(1)
  vi.advanceTimersByTime(10 * UNREAD_MS)
  expect(state.givenUp).toBe(1)
})

test('a client is not given up while it takes bytes, while it is excused, or when it is read again', () => {
  const { client, state } = watched()
  client.writableNeedDrain = true
  for (let n = 1; n <= 5; n += 1) {
    client.bytesWritten += 1
    vi.advanceTimersByTime(UNREAD_MS)
  }
  state.excused = true
  vi.advanceTimersByTime(5 * UNREAD_MS)
  state.paused = false
  state.excused = false
  vi.advanceTimersByTime(5 * UNREAD_MS)
  expect(state.givenUp).toBe(0)
})

test('nothing is looked at when the client is closed', () => {
  const { client } = watched()
  client.destroyed = true
  vi.advanceTimersByTime(UNREAD_MS)
  expect(vi.getTimerCount()).toBe(0)
})

test('a long reply, of which nothing tells how much is taken, may take longer', () => {
  const { client, state } = watched()
  Object.assign(client, { bytesWritten: 80_000_000, writableLength: 80_000_000, writableNeedDrain: true })
  vi.advanceTimersByTime(26 * UNREAD_MS)
  expect(state.givenUp).toBe(0)
  vi.advanceTimersByTime(2 * UNREAD_MS)
  expect(state.givenUp).toBe(1)
})
