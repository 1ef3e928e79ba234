import { hash } from 'node:crypto'
import type { TakenScripts } from '@fairlead/api/of-proxies'
import { createBacklog } from './backlog.ts'
import { type Command, wordAt } from './command.ts'

/**
 * Scripts that clients of an endpoint have loaded. No engine replicates them, so the handover gives them to
 * the next primary: client libraries load a script once per connection, which survives the handover, and
 * would get NOSCRIPT.
 */
export interface KnownScripts {
  /** Called when the engine has executed the command. */
  learn(command: Command): void
  /**
   * Called when the engine has executed these in a transaction; `bytes`: their kept size. There may be
   * 100,000 scripts, so `learnNext` learns them singly. Returns true if its calls must begin now.
   */
  learnLater(commands: readonly Command[], bytes: number): boolean
  /** Learns the next of those commands. Returns false if none is left. */
  learnNext(): boolean
  /** Marks a script that a client is about to use as used last. Returns it if known. */
  use(command: Command): Script | undefined
  /** Called when the engine has executed the script: it has it, even if scripts were flushed since. */
  keep(script: Script): void
  /** Called when a client of another thread has flushed the scripts. */
  forget(): void
  /**
   * Returns the scripts that an engine (by address) has not received yet, or all, and marks them as received.
   * `flushed`: clients have flushed scripts since, so the engine must flush first.
   */
  take(engine: string, all: boolean): TakenScripts
}

/** Limit of all texts of an endpoint. SCRIPT_COSTS is added for each, because short ones have a cost, too. */
export const MOST_SCRIPT_BYTES = 4 * 1024 * 1024
const SCRIPT_COSTS = 256
/** A longer script is not kept: outside of transactions not more is read, and its hash takes milliseconds. */
const LONGEST_SCRIPT_BYTES = 1024 * 1024
/** Limit of the backlog: two of the largest transactions. Scripts beyond it are not learnt. */
const MOST_UNLEARNT_BYTES = 32 * 1024 * 1024
/** Number of engines remembered: a replacement for each group of the largest database, and a few more. */
const MOST_ENGINES = 256

/** A script. `sha`: SHA-1 for EVALSHA. `number` rises with each new one. */
export interface Script {
  /** In latin1, which loses no byte. */
  readonly text: string
  readonly sha: string
  readonly number: number
}

/** Creates an empty store. `onForget`: called when a client has flushed the scripts. */
export function createKnownScripts({
  mostBytes = MOST_SCRIPT_BYTES,
  onForget = () => undefined,
}: {
  readonly mostBytes?: number
  readonly onForget?: () => void
} = {}): KnownScripts {
  const shelf = createShelf(mostBytes)
  /** Map from engine to the number of the last script that it received. */
  const told = new Map<string, number>()
  /** Scripts of executed transactions, and later ones. */
  const unlearnt = createBacklog<Command | Script>(MOST_UNLEARNT_BYTES)
  let last = 0
  let flushedAt = 0

  const add = (text: string, sha: string): void => {
    if (costOf(text) <= mostBytes && shelf.use(sha) === undefined) shelf.put({ text, sha, number: ++last })
  }
  const forget = (): void => {
    shelf.clear()
    flushedAt = ++last
  }
  const learnNow = (one: Command | Script): void => {
    const text = textOf(one)
    if (text !== undefined) add(text.toString('latin1'), 'sha' in one ? one.sha : hash('sha1', text, 'hex'))
    else if (isFlush(one)) {
      forget()
      onForget()
    }
  }
  const learnNext = (): boolean => {
    const next = unlearnt.next()
    if (next !== undefined) learnNow(next)
    return !unlearnt.isEmpty
  }
  const learn = (one: Command | Script): void => {
    if (unlearnt.isEmpty) learnNow(one)
    else unlearnt.add([one], SCRIPT_COSTS + (textOf(one)?.length ?? 0))
  }
  return {
    learn,
    keep: learn,
    learnNext,
    forget,
    learnLater(commands, bytes) {
      const isIdle = unlearnt.isEmpty
      unlearnt.add(commands, bytes)
      return isIdle && !unlearnt.isEmpty
    },
    use: (command) => useOf(shelf, command),
    take(engine, all) {
      while (learnNext());
      const from = noteTold(told, engine, last)
      const scripts = shelf.all().filter(({ number }) => all || number > from)
      return {
        flushed: flushedAt > from,
        scripts: scripts.map(({ text }) => Buffer.from(text, 'latin1').toString('base64')),
      }
    },
  }
}

function useOf(shelf: Shelf, { name, args: [first] }: Command): Script | undefined {
  if (first === undefined || first.length > LONGEST_SCRIPT_BYTES) return undefined
  if (byHash.has(name)) return shelf.use(first.toString('latin1').toLowerCase())
  return byText.has(name) ? shelf.use(shelf.hashOf(first.toString('latin1'))) : undefined
}

/** Marks scripts up to `last` as received by the engine. Returns the former number. */
function noteTold(told: Map<string, number>, engine: string, last: number): number {
  const from = told.get(engine) ?? 0
  told.delete(engine)
  told.set(engine, last)
  const [oldest] = told.keys()
  if (told.size > MOST_ENGINES && oldest !== undefined) told.delete(oldest)
  return from
}

interface Shelf {
  /** Returns the script of this hash, if any, and marks it as used last. */
  use(sha: string | undefined): Script | undefined
  /** Returns the hash of a known text: looking it up costs less than computing it. */
  hashOf(text: string): string | undefined
  /** Adds a new script; evicts those unused for longest. */
  put(script: Script): void
  all(): readonly Script[]
  clear(): void
}

/** A store of scripts with at most `mostBytes`. */
function createShelf(mostBytes: number): Shelf {
  /** Map from hash to script; the one used last is at the end. */
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

/** Commands examined for scripts, and the number of arguments examined. */
export const scriptCommands: Readonly<Record<string, number>> = {
  ...Object.fromEntries([...byText, ...byHash].map((name) => [name, 1])),
  SCRIPT: 2,
}

function isFlush(one: Command | Script): boolean {
  return 'args' in one && one.name === 'SCRIPT' && wordAt(one, 0) === 'FLUSH'
}

function textOf(one: Command | Script): Buffer | string | undefined {
  if ('sha' in one) return one.text
  const { name, args, cutShort } = one
  // It is unknown then which arguments were kept.
  if (cutShort) return undefined
  const text = byText.has(name)
    ? args[0]
    : name === 'SCRIPT' && wordAt(one, 0) === 'LOAD'
      ? args[1]
      : undefined
  return (text?.length ?? 0) > LONGEST_SCRIPT_BYTES ? undefined : text
}
