import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

/** Where the set-up of `npm test` unpacks Debian's prometheus on a machine without one. */
export const unpackedPrometheus = join(import.meta.dirname, '../.fairlead/test-prometheus')

/** The promtool of this machine, or else the one that the set-up has unpacked; null: there is none. */
export function promtoolHere(): string | null {
  const places = ['/usr/bin/promtool', join(unpackedPrometheus, 'usr/bin/promtool')]
  return places.find((path) => existsSync(path)) ?? null
}

/** Runs promtool in `folder`, with `input`. Answers its exit code and its whole output. */
export async function runPromtool(
  args: readonly string[],
  { input = '', folder = import.meta.dirname }: { readonly input?: string; readonly folder?: string } = {},
): Promise<{ readonly code: number | null; readonly said: string }> {
  const program = promtoolHere()
  if (program === null) throw new Error('there is no promtool')
  const child = spawn(program, args, { cwd: folder, stdio: ['pipe', 'pipe', 'pipe'] })
  // promtool may end before it has read all input.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [code, ...said] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  return { code, said: said.join('') }
}
