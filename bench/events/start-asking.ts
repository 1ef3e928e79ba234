import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** A client that asks for the action all the time. */
interface Asking extends AsyncDisposable {
  /** Resolves to how long each answer took, in milliseconds. */
  end(): Promise<readonly number[]>
}

/** Starts it in a process of its own: the followers would delay what it measures. */
export function startAsking(url: string): Asking {
  const child = fork(join(import.meta.dirname, 'ask-beside.ts'), [url], { stdio: 'inherit' })
  return {
    async end() {
      const told = once(child, 'message')
      child.send('enough')
      const [took] = (await told) as [readonly number[]]
      return took
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
