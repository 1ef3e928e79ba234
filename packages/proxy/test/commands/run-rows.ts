import { databaseUserRights } from '@fairlead/engine'
import { type Row, shaOf, wordsOf } from './row.ts'
import { type Talker, talk } from './talk.ts'

/**
 * The moment of the handover in a run. `before`: the command has been answered, and its effect is read
 * afterwards; `cut`: one half of the request was sent; `held`: it is sent while clients are held;
 * `transaction`: it is queued; `blocked`: it waits for data that come afterwards.
 */
export type Way = 'before' | 'cut' | 'held' | 'transaction' | 'blocked'

export interface Run {
  readonly row: Row
  readonly way: Way
  readonly protocol: 2 | 3
  /** The hash tag of its keys: six letters, of no other run. */
  readonly tag: string
}

/**
 * Each command from the row's own on, with its replies; the tag is replaced, so that runs can be compared.
 */
export type Transcript = readonly { readonly asked: string; readonly got: string }[]

/** A place to run rows at. */
export interface Place {
  readonly port: number
  /** Moves the primaries, and calls `whileHeld` while clients are held. */
  handOver(whileHeld: () => Promise<void>): Promise<void>
  /** Resolves when this many clients wait in blocking commands. */
  whenBlocked(count: number): Promise<void>
}

/** The rights of a database's own user, on each build that the matrix is tried with. */
export const USER_RIGHTS = `~* &* ${databaseUserRights({ flavour: 'redis', version: '7.0.0' }, false).join(' ')}`
export const USER = ['app', 'secret'] as const

/** Runs all at once, with one handover in the middle of them all. */
export async function runRows(place: Place, runs: readonly Run[]): Promise<readonly Transcript[]> {
  using other = await talkAsUser(place.port, 2)
  const acts = await Promise.all(runs.map((run) => begin(place.port, run, other)))
  try {
    await place.whenBlocked(runs.filter(({ way }) => way === 'blocked').length)
    await ask(other, 'PING', '')
    await place.handOver(async () => {
      for (const act of acts) act.whileHeld()
    })
    return await Promise.all(acts.map((act) => act.finish()))
  } finally {
    for (const { talker } of acts) talker[Symbol.dispose]()
  }
}

/** A client that has signed in as the database's own user. */
export async function talkAsUser(port: number, protocol: 2 | 3): Promise<Talker> {
  const talker = await talk(port)
  const answer = await ask(talker, `HELLO ${protocol} AUTH ${USER.join(' ')}`, '')
  if (answer.startsWith('-')) throw new Error(answer)
  return talker
}

function ask(talker: Talker, command: string, tag: string): Promise<string> {
  return talker.ask(wordsOf(command, tag))
}

interface Act {
  readonly talker: Talker
  whileHeld(): void
  finish(): Promise<Transcript>
}

async function begin(port: number, run: Run, other: Talker): Promise<Act> {
  const { row, way, protocol, tag } = run
  const talker = await talkAsUser(port, protocol)
  const transcript: { asked: string; got: string }[] = []
  const note = (asked: string, got: string) =>
    void transcript.push({
      asked,
      got: got.replaceAll(tag, 'tagtag').replaceAll(shaOf(tag), ''.padEnd(40, 'sha')),
    })
  const isRefused = () => transcript.some(({ asked, got }) => asked === row.ask && got.startsWith('-'))
  const step = async (command: string): Promise<void> => {
    if (command === '<') note(command, isRefused() ? 'not to come' : await talker.hear())
    else if (command.startsWith('@')) note(command, await ask(other, command.slice(1), tag))
    else note(command, await ask(talker, command, tag))
  }
  const wakes = way === 'blocked' && row.before.length > 0 ? row.before.slice(-1) : []
  for (const command of row.before.slice(0, row.before.length - wakes.length)) await step(command)
  if (way === 'transaction') await step('MULTI')
  if (way === 'transaction' || way === 'before') await step(row.ask)
  const { bytes, replies } = ['cut', 'held', 'blocked'].includes(way)
    ? talker.request(wordsOf(row.ask, tag))
    : { bytes: Buffer.alloc(0), replies: 0 }
  const middle = way === 'cut' ? Math.ceil(bytes.length / 2) : 0
  if (way === 'cut') talker.send(bytes.subarray(0, middle))
  if (way === 'blocked') talker.send(bytes)

  return {
    talker,
    whileHeld() {
      if (way === 'held') talker.send(bytes)
    },
    async finish() {
      if (way === 'cut') talker.send(bytes.subarray(middle))
      for (const command of wakes) await step(`@${command}`)
      if (bytes.length > 0) note(row.ask, await talker.take(replies))
      if (way === 'transaction') await step('EXEC')
      for (const command of row.after) await step(command)
      for (const message of talker.unheard()) note('', message)
      return transcript
    },
  }
}
