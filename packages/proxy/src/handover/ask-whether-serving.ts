import { encodeCommand } from '@fairlead/engine'
import { askOnce } from './ask-once.ts'
import { NotInTime, type Place } from './open-link.ts'

/** How long an engine that serves may take to answer. */
export const ANSWER_MS = 500

/** This command is paused together with writes, and refused while another script runs: an engine that answers it keeps no client waiting. It names no key. */
const SCRIPT = encodeCommand(['EVAL', 'return 1', '0'])
const PING = encodeCommand(['PING'])

/**
 * Whether an engine serves clients now. `serving`: it answers reads and writes. `busy`: a script runs, or it does not
 * answer. `untold`: it accepts none of these logins, which are not valid any more, or has no place for a connection.
 */
export type Serving = 'serving' | 'busy' | 'untold'

/** Asks on connections of its own, signed in as a client: with one of `logins` (AUTH's arguments) after the other, until one gets an answer. */
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

/** `reading`: the answer to a client without the right to run scripts, which does not show whether writes are answered. */
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

/** Each of the answers is one line. */
function readAnswers([script = '', ping = '']: readonly string[]): Serving | 'reading' {
  if ([script, ping].some((answer) => /^-(BUSY|LOADING|MASTERDOWN)\b/.test(answer))) return 'busy'
  if (script === ':1') return 'serving'
  return ping === '+PONG' ? 'reading' : 'untold'
}
