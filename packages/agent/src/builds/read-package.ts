import { readFile, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { FoundBuild } from '@fairlead/api'
import { runProgram } from './run-program.ts'

const deadlineMs = 3_000

/**
 * Returns package version and suite of a server program: from the META file that `engines fetch` adds to a
 * build; else the version from dpkg, if it has it.
 */
export async function readPackage(
  program: string,
  signal: AbortSignal | undefined,
): Promise<Pick<FoundBuild, 'package' | 'suite'>> {
  const meta = await readFile(join(dirname(dirname(program)), 'META'), 'utf8').catch(() => '')
  const [debian, suite] = [/^debian=(\S+)$/m.exec(meta)?.[1], /^suite=(\S+)$/m.exec(meta)?.[1]]
  const version = debian ?? (await askDpkg(program, signal))
  return { ...(version !== undefined && { package: version }), ...(suite !== undefined && { suite }) }
}

async function askDpkg(program: string, signal: AbortSignal | undefined): Promise<string | undefined> {
  try {
    // Debian's server is a link to one of its tools.
    const file = await realpath(program)
    if (!/^\/usr\/(?!local\/)/.test(file)) return undefined
    const owner = await query(['--search', file], signal)
    const name = /^([a-z0-9.+-]+)(:[a-z0-9]+)?: /m.exec(owner)?.[1]
    if (name === undefined) return undefined
    const version = await query(['--show', '--showformat', `\${Version}`, name], signal)
    return /^[0-9][A-Za-z0-9.+~:-]*$/.test(version) ? version : undefined
  } catch (cause) {
    if (signal?.aborted) throw cause
    return undefined // no dpkg here
  }
}

async function query(args: readonly string[], signal: AbortSignal | undefined): Promise<string> {
  const { code, stdout } = await runProgram({ program: 'dpkg-query', args, deadlineMs, signal })
  return code === 0 ? stdout : ''
}
