import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

interface Used {
  readonly cpuMs: number
  readonly memoryMb: number
  /** What it still needs, before the first change and after the last. */
  readonly earlyHeapMb: number
  readonly heapMb: number
}

/** A server with one action, in a process of its own. */
export interface EventServer extends AsyncDisposable {
  readonly url: string
  /** Changes the action so often, one change each `everyMs`; resolves to what the process has used for that, and its memory at the end. */
  write(changes: number, everyMs: number): Promise<Used>
}

/** Starts it. Each user may follow as often as it likes. */
export async function startEventServer(): Promise<EventServer> {
  const child = fork(join(import.meta.dirname, 'server-main.ts'), {
    ...{ stdio: 'inherit', execArgv: [...process.execArgv, '--expose-gc'] },
  })
  const [url] = (await once(child, 'message')) as [string]
  return {
    url,
    async write(changes, everyMs) {
      child.send({ changes, everyMs })
      const [used] = (await once(child, 'message')) as [Used]
      return used
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
