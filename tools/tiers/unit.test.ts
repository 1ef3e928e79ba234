import { spawn } from 'node:child_process'
import { connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { expect, test, vi } from 'vitest'
import { takeUsed } from './used.ts'

test('a unit test opens no socket, no child process and no thread, and waits for no real clock', () => {
  const attempts = [
    ['socket', () => connect(1)],
    ['socket', () => createServer().listen(0)],
    ['child process', () => spawn('true')],
    ['thread', () => new Worker('')],
    ['wait in real time', () => pause(1)],
    ['wait in real time', () => AbortSignal.timeout(1)],
  ] as const
  for (const [what, attempt] of attempts) {
    expect(attempt).toThrow()
    expect(takeUsed()).toEqual([what])
  }
})

test('a request over HTTP opens a socket, too', async () => {
  await expect(fetch('http://127.0.0.1:8080')).rejects.toThrow()
  expect(takeUsed()).toEqual(['socket'])
})

test('the clock of a unit test stands still until the test moves it', () => {
  const [began, rung] = [Date.now(), vi.fn()]
  setTimeout(rung, 1_000)
  for (let n = 0; n < 1_000_000; n += 1);
  expect([Date.now() - began, performance.now(), rung.mock.calls.length]).toEqual([0, 0, 0])
  vi.advanceTimersByTime(1_000)
  expect([Date.now() - began, rung.mock.calls.length]).toEqual([1_000, 1])
})
