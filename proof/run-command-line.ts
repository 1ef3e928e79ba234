import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { until } from './until.ts'

/** What a command line has done. */
export interface Done {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** `fairlead …` as a process of its own, as users run it. */
export interface CommandLine {
  /** Off a terminal. `input` is its stdin, which ends there. */
  run(args: readonly string[], input?: string): Promise<Done>
  /** Off a terminal, while it runs. */
  start(args: readonly string[]): ChildProcess
  /** On a terminal of so many columns and rows. */
  onTerminal(args: readonly string[], size?: Size): Session
}

/** A command on a terminal. */
export interface Session {
  /** All that the terminal was sent, with its control characters. */
  readonly shown: () => string
  /** Types, when this can be read on the terminal. */
  type(after: string, keys: string): Promise<void>
  /** As a person who pulls at the window. */
  resize(size: Size): Promise<void>
  /** To the command itself, not to the terminal. */
  signal(signal: NodeJS.Signals): Promise<void>
  /** As Ctrl-Z and `fg` of a shell. */
  stopAndGoOn(): Promise<void>
  /** Its exit code. */
  readonly ended: Promise<number | null>
}

interface Size {
  readonly columns: number
  readonly rows: number
}

const root = join(import.meta.dirname, '..')
const compiled = join(root, '.fairlead', 'compiled')
const program = [
  process.execPath,
  '--conditions=@fairlead/source',
  join(root, 'packages/cli/src/main.ts'),
] as const

/** `env` is all of its environment beside what Node needs. */
export function commandLine(env: Readonly<Record<string, string>>): CommandLine {
  const all = {
    PATH: process.env['PATH'],
    HOME: '/nonexistent',
    LANG: 'C.UTF-8',
    TERM: 'xterm-256color',
    NODE_COMPILE_CACHE: compiled,
    ...env,
  }
  const [node, ...flags] = program
  const start = (args: readonly string[]) => spawn(node, [...flags, ...args], { env: all })
  return {
    start,
    async run(args, input = '') {
      const child = start(args)
      const closed = once(child, 'close')
      child.stdin.on('error', () => undefined) // it may not read it
      child.stdin.end(input)
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
      await closed
      return { code: child.exitCode, stdout, stderr }
    },
    onTerminal: (args, size = { columns: 80, rows: 24 }) => {
      const command = [...program, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
      // What it is, and where, is told first: the shell becomes the command.
      const sized = `stty cols ${size.columns} rows ${size.rows}; echo "$$ $(tty)"; exec ${command}`
      return sessionOf(spawn('script', ['-qefc', sized, '/dev/null'], { env: all }))
    },
  }
}

function sessionOf(child: ReturnType<CommandLine['start']>): Session {
  let told = ''
  child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
    told += piece
  })
  const head = /^(\d+) (\S+)\r?\n/
  const shown = () => told.replace(head, '')
  const place = () => until('the terminal has begun', () => head.exec(told))
  return {
    shown,
    async type(after, keys) {
      await until(`the terminal shows ${after}`, async () => shown().includes(after))
      child.stdin?.write(keys)
    },
    async resize({ columns, rows }) {
      const [, , terminal = ''] = await place()
      execFileSync('stty', ['-F', terminal, 'cols', String(columns), 'rows', String(rows)])
    },
    async signal(signal) {
      const [, pid] = await place()
      process.kill(Number(pid), signal)
    },
    async stopAndGoOn() {
      const [, pid] = await place()
      process.kill(Number(pid), 'SIGTSTP')
      // `script` stops when its command has stopped, and lets that go on when it goes on itself.
      await until('it has stopped', () => / T /.test(readFileSync(`/proc/${child.pid}/stat`, 'utf8')))
      child.kill('SIGCONT')
    },
    ended: once(child, 'close').then(() => child.exitCode),
  }
}
