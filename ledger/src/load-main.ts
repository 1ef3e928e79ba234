import { setTimeout as delay } from 'node:timers/promises'
import type { CheckedLoadOptions } from './check-load-options.ts'
import type { LedgerReport } from './load-report.ts'
import { ALONE_WITHIN_MS, createLayoutLookup, type LayoutLookup } from './lookup-layout.ts'
import type { News, Question, Questions } from './questions.ts'
import { readBack, type Verdict } from './read-back.ts'
import { type RunningLoad, runLoad } from './run-load.ts'
import { nowUnixMs } from './unix-clock.ts'

// The process of the load. start-load.ts forks it and asks it questions; it ends together with its parent.

const NEWS_EVERY_MS = 20
/**
 * A replica is a few moments behind its primary. A write that it does not hold after this time is missing.
 */
const REPLICA_WITHIN_MS = 3_000
const LOOK_AGAIN_MS = 100
/** The longest that a question for gaps waits for its window to pass. */
const WINDOW_WITHIN_MS = 60_000

interface Begun {
  readonly options: CheckedLoadOptions
  readonly lookup: LayoutLookup
  readonly load: RunningLoad
}

let begun: Begun | null = null
let stopping: Promise<LedgerReport> | null = null

const answers: {
  readonly [Name in keyof Questions]: (ask: Questions[Name]['ask']) => Promise<Questions[Name]['answer']>
} = {
  async start(options) {
    const lookup = createLayoutLookup(options.lookup)
    const load = await runLoad(options, lookup)
    begun = { options, lookup, load }
    setInterval(() => tell({ kind: 'acked', acked: load.acked() }), NEWS_EVERY_MS)
    return load.layout.groups
  },
  async token(token) {
    running().lookup.setToken(token)
    return null
  },
  async gap({ group, ...window }) {
    const { load } = running()
    const waitMs = window.toMs - nowUnixMs()
    if (waitMs > WINDOW_WITHIN_MS)
      throw new Error(`the window ends only in ${Math.round(waitMs / 1000)} s: ask later`)
    if (waitMs > 0 && !stopping) await delay(waitMs)
    return load.longestGapMs(window, group)
  },
  async stop() {
    stopping ??= running().load.stop()
    return stopping
  },
  async readBack({ address }) {
    if (!stopping) throw new Error('the load is still writing: call stop() before readBack()')
    await stopping
    const { options, lookup, load } = running()
    const { password, valueBytes } = options
    // Without sharding any address holds everything: a shard can be read while the API is away.
    const layout = address && !load.layout.sharded ? load.layout : await lookup.ask(ALONE_WITHIN_MS)
    const read = () =>
      readBack({ ledger: load.ledger, layout, password, valueBytes, ...(address && { address }) })
    return address ? untilNothingIsMissing(read) : read()
  },
}

process.on('message', (question: Question) => void answer(question))
process.on('disconnect', () => process.exit(0))
// Ctrl-C reaches the whole foreground; the parent process decides when the ledger closes.
process.on('SIGINT', () => undefined)

async function answer(question: Question): Promise<void> {
  const { id } = question
  try {
    tell({ kind: 'answer', id, answer: await ask(question) })
  } catch (cause) {
    tell({ kind: 'trouble', id, message: cause instanceof Error ? cause.message : String(cause) })
  }
}

function ask(question: Question): Promise<unknown> {
  // The union pairs each name with its question; TypeScript cannot carry the pair through the index.
  const reply = answers[question.name] as (ask: unknown) => Promise<unknown>
  return reply(question.ask)
}

function tell(news: News): void {
  process.send?.(news)
}

function running(): Begun {
  if (begun) return begun
  throw new Error('the load has not been started')
}

/** A lost write stays missing at each look; a write that is only late arrives. */
async function untilNothingIsMissing(read: () => Promise<Verdict>): Promise<Verdict> {
  const deadlineMs = performance.now() + REPLICA_WITHIN_MS
  let verdict = await read()
  while (verdict.lost > 0 && performance.now() < deadlineMs) {
    await delay(LOOK_AGAIN_MS)
    verdict = await read()
  }
  return verdict
}
