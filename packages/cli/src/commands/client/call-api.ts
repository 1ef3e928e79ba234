import { readApiError } from '@fairlead/api/lean'
import type { CommonOptions, Context } from '../../link/open-context.ts'
import type { Yes } from '../../output/ask.ts'
import { CommandFault } from '../../output/command-fault.ts'
import { isForPeople } from '../../output/forms.ts'
import { printValue } from '../../output/print-answer.ts'
import { readText } from '../../output/read-quantity.ts'
import { withoutOrders } from '../../output/without-orders.ts'
import { guardChange, lookFirst } from '../guard-change.ts'

/** The options of `api`. */
export interface ApiOptions extends CommonOptions {
  readonly data?: string
  readonly yes?: Yes
}

const methods: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']

/** Sends one request as the user of the profile, and prints the answer. Refusals end it like any command. */
export async function callApi(
  context: Context,
  given: string,
  path: string,
  { data, yes }: ApiOptions,
): Promise<void> {
  const method = given.toUpperCase()
  if (!methods.includes(method))
    throw new CommandFault('usage', `${given} is no method; there are ${methods.join(', ')}`)
  if (!/^\/(?!\/)[\x21-\x7e]*$/.test(path))
    throw new CommandFault('usage', `the path begins with a slash, like /v1/bdbs, and has no spaces: ${path}`)
  if (method === 'GET' && /\/events\/?(\?|$)/.test(path))
    throw new CommandFault('usage', 'that is a stream, which has no end', { next: 'fairlead audit follow' })
  if (context.answer.columns !== undefined || context.answer.form === 'name')
    throw new CommandFault('usage', 'an answer of the API has the forms json, yaml and jsonl')
  const body = data === undefined ? undefined : await readData(data)
  const link = await context.link()
  if (method !== 'GET') await guardChange(context, link, { about: `${method} ${path}`, yes })
  const { status, text } = await link
    .send({
      method,
      path,
      ...(body !== undefined && { body }),
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
    })
    .catch(method === 'GET' ? rethrow : lookFirst(`fairlead api GET ${path}`))
  if (status >= 400) throw readApiError(`${method} ${path}`, status, text)
  context.terminal.outPainted(withoutOrders(print(context, text)))
}

function rethrow(cause: unknown): never {
  throw cause
}

/** "@file", "@-" for stdin, or the text itself. */
async function readData(data: string): Promise<string> {
  if (!data.startsWith('@')) return data
  if (data === '@-') return (await import('node:stream/consumers')).text(process.stdin)
  return readText('-d', data.slice(1))
}

/** Prints JSON like every answer, and other text unchanged. */
function print({ answer }: Context, text: string): string {
  const { form } = answer
  try {
    return printValue(JSON.parse(text), isForPeople(form) ? 'json' : form, answer)
  } catch {
    return text === '' || text.endsWith('\n') ? text : `${text}\n`
  }
}
