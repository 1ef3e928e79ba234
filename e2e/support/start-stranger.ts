import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Another user of the machine: `nobody` on most systems. */
export const STRANGER = 65_534

/** A program that runs as another user of this machine, until it is disposed of. */
export interface Stranger extends AsyncDisposable {
  /** The next text that it prints. Throws when it ends before that, or after 10 s. */
  says(): Promise<string>
  /** The text that it has printed since then. */
  rest(): readonly string[]
}

/** Only root can become another user. */
export const canBeStranger = process.getuid?.() === 0

/**
 * Runs JavaScript (a module that imports only Node's own modules) as another user. It begins as root, so that
 * it finds Node wherever that is, and becomes the other user before the first line of `code`.
 */
export function startStranger(code: string): Stranger {
  const become = `process.setgroups([${STRANGER}]); process.setgid(${STRANGER}); process.setuid(${STRANGER})`
  const child = spawn(process.execPath, ['--input-type=module', '-e', `${become}\n${code}`], {
    cwd: '/',
    env: {},
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  child.stdout.setEncoding('utf8')
  const lines: string[] = []
  let begun = ''
  child.stdout.on('data', (text: string) => {
    const parts = (begun + text).split('\n')
    begun = parts.pop() ?? ''
    lines.push(...parts)
    child.emit('line')
  })
  const ended = once(child, 'close').then(() => undefined)
  return {
    async says() {
      const deadline = AbortSignal.timeout(60_000)
      while (lines.length === 0) {
        const isOver = await Promise.race([
          once(child, 'line', { signal: deadline }).then(() => false),
          ended.then(() => true),
        ])
        if (isOver && lines.length === 0) throw new Error('the stranger has ended without a word')
      }
      return lines.shift() ?? ''
    },
    rest: () => [...lines],
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
