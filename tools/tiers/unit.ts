import child from 'node:child_process'
import dgram from 'node:dgram'
import { syncBuiltinESMExports } from 'node:module'
import net from 'node:net'
import timers from 'node:timers/promises'
import threads from 'node:worker_threads'
import { afterEach, beforeEach, vi } from 'vitest'
import { noteUsed, takeUsed } from './used.ts'

/**
 * Set-up of every unit test. Sockets, child processes, threads and waits in real time throw, and the clock
 * stands still until the test moves it with `vi.advanceTimersByTime`. A test that needs one of them is a
 * component test.
 */
function forbid(owner: object, names: readonly string[], what: string): void {
  // Also called with `new`.
  function refuse(): never {
    noteUsed(what)
    throw new Error(`a unit test has no ${what}: move it to test/component of its package`)
  }
  for (const name of names) Object.defineProperty(owner, name, { value: refuse, configurable: true })
}

forbid(net.Socket.prototype, ['connect'], 'socket')
forbid(net.Server.prototype, ['listen'], 'socket')
forbid(dgram, ['createSocket'], 'socket')
const starters = ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork']
forbid(child, starters, 'child process')
forbid(threads, ['Worker'], 'thread')
forbid(timers, ['setTimeout', 'setInterval'], 'wait in real time')
forbid(AbortSignal, ['timeout'], 'wait in real time')
syncBuiltinESMExports()

function stopClock(): void {
  vi.useFakeTimers({
    now: Date.UTC(2026, 0, 1),
    toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'],
  })
}

stopClock()
beforeEach(stopClock)
// The code under test may have caught what was thrown.
afterEach(() => {
  const found = takeUsed()
  if (found.length > 0) throw new Error(`a unit test has no ${found.join(', no ')}`)
})
