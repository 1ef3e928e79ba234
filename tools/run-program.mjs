import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { isatty } from 'node:tty'
import { SetUpError } from './set-up-error.mjs'

const graceMs = 3_000

/** A signal ended the set-up. Nothing is printed; the exit code says which one, as a shell would. */
export class Interrupted extends Error {
  constructor(exitCode) {
    super(`interrupted: exit code ${exitCode}`)
    this.exitCode = exitCode
  }
}

/**
 * Runs a program to its end with our own stdin, stdout and stderr, and passes signals on to it.
 * Resolves with its exit code: 128 + n when signal n ended it. `onMessage` opens a channel for its
 * process.send().
 */
export async function runProgram(program, args, { env, cwd, onMessage }) {
  const stdio = ['inherit', 'inherit', 'inherit', ...(onMessage ? ['ipc'] : [])]
  const child = spawn(program, args, { env, cwd, stdio })
  if (onMessage) child.on('message', onMessage)
  return await exitCodeOf(child)
}

/**
 * Runs a program of the set-up: no stdin, its output kept.
 * Throws Interrupted when one of our signals ended it, SetUpError when there is no such program.
 */
export async function runQuietly(program, args, { env, cwd }) {
  const child = spawn(program, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'])
    child[name].setEncoding('utf8').on('data', (text) => {
      output[name] += text
    })
  const code = await exitCodeOf(child, { stopOnSignal: true })
  return { code, ...output }
}

function exitCodeOf(child, { stopOnSignal = false } = {}) {
  // A terminal sends Ctrl-C to every process of the group: the child has it already, and twice means "at
  // once".
  const terminal = [0, 1, 2].some((fd) => isatty(fd))
  let told
  const forwarders = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'].map((signal) => {
    const forward = () => {
      told = signal
      if (stopOnSignal) end(child)
      else if (!(terminal && (signal === 'SIGINT' || signal === 'SIGQUIT'))) child.kill(signal)
    }
    process.on(signal, forward)
    return () => process.off(signal, forward)
  })
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(explainSpawnError(error, child.spawnfile)))
    child.once('close', (code, signal) => {
      if (stopOnSignal && told) reject(new Interrupted(128 + constants.signals[told]))
      else resolve(code ?? 128 + constants.signals[signal])
    })
  }).finally(() => {
    for (const stop of forwarders) stop()
  })
}

/**
 * npm goes on for a long time in spite of a signal. An incomplete installation does no harm: the next one
 * starts from the beginning.
 */
function end(child) {
  child.kill('SIGTERM')
  setTimeout(() => child.kill('SIGKILL'), graceMs).unref()
}

function explainSpawnError(error, program) {
  if (error.code !== 'ENOENT') return error
  return new SetUpError(
    program === 'npm'
      ? 'npm is not on PATH. Install Node.js together with npm and try again.'
      : `${program} is not there. Delete node_modules and try again.`,
  )
}
