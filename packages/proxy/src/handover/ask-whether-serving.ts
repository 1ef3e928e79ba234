import { encodeCommand } from '@fairlead/engine'
import { askOnce } from './ask-once.ts'
import { NotInTime, type Place } from './open-link.ts'

/** Longest answer time of an engine that serves. */
export const ANSWER_MS = 500

/** Paused together with writes, and refused while a script runs: an answer shows that no client waits. */
const SCRIPT = encodeCommand(['EVAL', 'return 1', '0'])
const PING = encodeCommand(['PING'])

/**
 * State of an engine.
 * - `serving`: it answers reads and writes.
 * - `busy`: a script runs, or it does not answer.
 * - `untold`: it accepts none of these logins (no longer valid), or has no room for a connection.
 */
export type Serving = 'serving' | 'busy' | 'untold'

/** Tries `logins` (AUTH's arguments) in turn, each on a separate connection, until one gets an answer. */
export async function askWhetherServing(
  target: Place,
  logins: readonly (readonly Buffer[] | null)[],
): Promise<Serving> {
  let best: Serving = 'untold'
  for (const login of logins) {
    const told = await askAs(target, login)
    if (told === 'busy' || told === 'serving') return told
    if (told === 'reading') best = 'serving'
  }
  return best
}

/** `reading`: the client has no right to run scripts, so the answer does not show if writes are answered. */
async function askAs(target: Place, login: readonly Buffer[] | null): Promise<Serving | 'reading'> {
  const signIn = login === null ? [] : [encodeCommand(['AUTH', ...login])]
  const request = Buffer.concat([...signIn, SCRIPT, PING])
  try {
    const lines = await askOnce(target, request, { wanted: 2 + signIn.length, withinMs: ANSWER_MS })
    return readAnswers(lines.slice(signIn.length))
  } catch (cause) {
    return cause instanceof NotInTime ? 'busy' : 'untold'
  }
}

/** Interprets the answers; each is one line. */
function readAnswers([script = '', ping = '']: readonly string[]): Serving | 'reading' {
  if ([script, ping].some((answer) => /^-(BUSY|LOADING|MASTERDOWN)\b/.test(answer))) return 'busy'
  if (script === ':1') return 'serving'
  return ping === '+PONG' ? 'reading' : 'untold'
}
