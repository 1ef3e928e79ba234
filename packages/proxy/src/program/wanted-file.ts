import { readFile } from 'node:fs/promises'
import { EndpointSpec } from '@fairlead/api/of-proxies'
import { codeOf } from '@fairlead/engine'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { replaceFile } from '../listen/replace-file.ts'

/** The wanted endpoints, by id. */
const Wanted = Type.Record(Type.String(), EndpointSpec)
/** The endpoints that the server has asked for, as the file of the proxy holds them. */
export type Wanted = Static<typeof Wanted>

/** The endpoints that were written last; empty if there is no file. Throws when the file is damaged. */
export async function readWanted(path: string): Promise<Wanted> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return {}
    throw cause
  }
  const value: unknown = JSON.parse(text)
  if (!Value.Check(Wanted, value)) throw new Error(`${path} does not hold wanted endpoints`)
  return value
}

/** Replaces the file, which only its owner can read (keys are in it). Writers must take turns. */
export async function writeWanted(path: string, wanted: Wanted): Promise<void> {
  await replaceFile(path, JSON.stringify(wanted))
}
