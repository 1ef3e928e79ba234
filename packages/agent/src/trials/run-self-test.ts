import { isDeepStrictEqual } from 'node:util'
import type { LoadedModule, TrialRequest } from '@fairlead/api'
import { type EngineConnection, EngineError, messageOf, printable, type Reply } from '@fairlead/engine'

/** Limit of a shown answer of a self-test. */
const MOST_SHOWN = 200

/** Returns which module the engine has not loaded; undefined if none. */
export async function missingModule(
  admin: EngineConnection,
  { modules }: { readonly modules: readonly LoadedModule[] },
): Promise<string | undefined> {
  if (modules.length === 0) return undefined
  const listed = namesIn(await admin.call('MODULE', 'LIST'))
  const missing = modules.find(({ name }) => !listed.includes(name))
  if (missing === undefined) return undefined
  return `it has not loaded the module ${missing.name}; it has ${listed.length === 0 ? 'none' : printable(listed.join(', '))}`
}

/**
 * Runs the commands of a self-test in order. Ends at the first error, wrong answer, or missing answer within
 * the connection's deadline; undefined if there is none.
 */
export async function runSelfTest(
  admin: EngineConnection,
  { selfTest }: Pick<TrialRequest, 'selfTest'>,
): Promise<string | undefined> {
  for (const step of selfTest) {
    const [name = '', ...args] = step.command
    const told = `the self-test ${shorten([name, ...args].join(' '))}`
    try {
      const reply = await admin.call(name, ...args)
      if ('reply' in step && !isDeepStrictEqual(reply, step.reply))
        return `${told} was answered ${show(reply)}, not ${show(step.reply)}`
    } catch (cause) {
      if (cause instanceof EngineError) return `${told} was answered by an error: ${cause.message}`
      return `${told} was not answered: ${messageOf(cause)}`
    }
  }
  return undefined
}

/** Each module is a list of names and values: name, its name, ver, its version, … */
function namesIn(reply: Reply): readonly string[] {
  if (!Array.isArray(reply)) return []
  return reply.flatMap((module: Reply) => {
    if (!Array.isArray(module)) return []
    const at = module.indexOf('name')
    return at < 0 ? [] : [String(module[at + 1])]
  })
}

function show(value: unknown): string {
  return shorten(JSON.stringify(value))
}

function shorten(text: string): string {
  return printable(text, MOST_SHOWN)
}
