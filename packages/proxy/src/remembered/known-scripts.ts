import { createHash } from 'node:crypto'
import type { TakenScripts } from '@fairlead/api'
import { type Command, wordAt } from './command.ts'

/**
 * The scripts that clients of an endpoint have loaded into their engines. No engine replicates them, so the
 * handover gives them to the next primary (ADR 20).
 */
export interface KnownScripts {
  /** The engine has executed the command, directly or in a successful EXEC. */
  learn(command: Command): void
  /** A client is about to use a script: it counts as used last. Answers the script, if it is known. */
  use(command: Command): Script | undefined
  /** The engine has executed the script: it has it, although clients may have flushed scripts in between. */
  keep(script: Script): void
  /** A client of another thread has flushed the scripts. */
  forget(): void
  /**
   * The scripts that an engine (its address) has not been told of yet, or all; from then on they count as told. `flushed`: clients have
   * flushed scripts since, and the engine must do so first.
   */
  take(engine: string, all: boolean): TakenScripts
}

/** The most bytes of all texts of an endpoint; each text counts as more than its length, because short ones have a cost, too. */
export const MOST_SCRIPT_BYTES = 4 * 1024 * 1024
const SCRIPT_COSTS = 256
/** How many engines are remembered: a replacement for each group of the largest database, and a few more. */
const MOST_ENGINES = 256

/** A script of clients; `sha` is the SHA-1 that EVALSHA names it by, `number` rises with each new one. */
export interface Script {
  /** As latin1, so that no byte is lost. */
  readonly text: string
  readonly sha: string
  readonly number: number
}

/** `onForget` is called when a client has flushed them. */
export function createKnownScripts({
  mostBytes = MOST_SCRIPT_BYTES,
  onForget = () => undefined,
}: {
  readonly mostBytes?: number
  readonly onForget?: () => void
} = {}): KnownScripts {
  const shelf = createShelf(mostBytes)
  /** By engine, the number of the last script that it has been told of. */
  const told = new Map<string, number>()
  let last = 0
  let flushedAt = 0

  const add = (text: string, sha: string): void => {
    if (costOf(text) > mostBytes || shelf.use(sha) !== undefined) return
    last += 1
    shelf.put({ text, sha, number: last })
  }
  const forget = (): void => {
    shelf.clear()
    last += 1
    flushedAt = last
  }
  return {
    learn(command) {
      const text = textOf(command)
      if (text !== undefined) add(text.toString('latin1'), createHash('sha1').update(text).digest('hex'))
      else if (command.name === 'SCRIPT' && wordAt(command, 0) === 'FLUSH') {
        forget()
        onForget()
      }
    },
    use(command) {
      const [first] = command.args
      if (first === undefined) return undefined
      const word = first.toString('latin1')
      if (byHash.has(command.name)) return shelf.use(word.toLowerCase())
      return byText.has(command.name) ? shelf.use(shelf.hashOf(word)) : undefined
    },
    keep: ({ text, sha }) => add(text, sha),
    forget,
    take(engine, all) {
      const from = told.get(engine) ?? 0
      told.delete(engine)
      told.set(engine, last)
      const [oldest] = told.keys()
      if (told.size > MOST_ENGINES && oldest !== undefined) told.delete(oldest)
      const scripts = shelf.all().filter(({ number }) => all || number > from)
      return {
        flushed: flushedAt > from,
        scripts: scripts.map(({ text }) => Buffer.from(text, 'latin1').toString('base64')),
      }
    },
  }
}

interface Shelf {
  /** The script of this hash, if there is one; it counts as used last. */
  use(sha: string | undefined): Script | undefined
  /** The hash of a known text: looking it up costs less than computing it. */
  hashOf(text: string): string | undefined
  /** Adds a new script. Scripts that were not used for the longest time make room. */
  put(script: Script): void
  all(): readonly Script[]
  clear(): void
}

/** Scripts, in `mostBytes` at most. */
function createShelf(mostBytes: number): Shelf {
  /** By hash, the one that was used last at the end. */
  const known = new Map<string, Script>()
  const hashes = new Map<string, string>()
  let bytes = 0
  return {
    use(sha = '') {
      const script = known.get(sha)
      if (script === undefined) return undefined
      known.delete(sha)
      known.set(sha, script)
      return script
    },
    hashOf: (text) => hashes.get(text),
    put(script) {
      known.set(script.sha, script)
      hashes.set(script.text, script.sha)
      bytes += costOf(script.text)
      for (const [oldest, { text }] of known) {
        if (bytes <= mostBytes) break
        known.delete(oldest)
        hashes.delete(text)
        bytes -= costOf(text)
      }
    },
    all: () => [...known.values()],
    clear() {
      known.clear()
      hashes.clear()
      bytes = 0
    },
  }
}

function costOf(text: string): number {
  return text.length + SCRIPT_COSTS
}

const byText: ReadonlySet<string> = new Set(['EVAL', 'EVAL_RO'])
const byHash: ReadonlySet<string> = new Set(['EVALSHA', 'EVALSHA_RO'])

/** Commands that are looked at for scripts, and how many of their arguments are. */
export const scriptCommands: Readonly<Record<string, number>> = {
  ...Object.fromEntries([...byText, ...byHash].map((name) => [name, 1])),
  SCRIPT: 2,
}

function textOf(command: Command): Buffer | undefined {
  const { name, args, cutShort } = command
  // Then it is not known which of its arguments were kept.
  if (cutShort) return undefined
  if (byText.has(name)) return args[0]
  return name === 'SCRIPT' && wordAt(command, 0) === 'LOAD' ? args[1] : undefined
}
