import { encodeCommand } from '@fairlead/engine'
import { askOnce } from './ask-once.ts'
import type { Place } from './open-link.ts'

const ANSWER_MS = 500

/** Paused with writes, and refused while another script runs: an engine that answers this keeps no client waiting. It names no key. */
const SCRIPT = encodeCommand(['EVAL', 'return 1', '0'])
const PING = encodeCommand(['PING'])

/**
 * Whether an engine answers clients just now, reads and writes: asked on a connection of its own, logged in as a client (`login`: AUTH's
 * arguments). False also where that cannot be told.
 */
export async function askWhetherServing(target: Place, login: readonly Buffer[] | null): Promise<boolean> {
  const signIn = login === null ? [] : [encodeCommand(['AUTH', ...login])]
  const request = Buffer.concat([...signIn, SCRIPT, PING])
  const times = { wanted: 2 + signIn.length, withinMs: ANSWER_MS }
  const lines = await askOnce(target, request, times).catch(() => [])
  return isServing(lines.slice(signIn.length))
}

/** Each of the answers is one line. A client that may run no scripts is answered all the same. */
function isServing([script = '', ping]: readonly string[]): boolean {
  return ping === '+PONG' && (script === ':1' || script.startsWith('-NOPERM'))
}
