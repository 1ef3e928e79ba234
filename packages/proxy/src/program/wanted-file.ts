import { readFile } from 'node:fs/promises'
import { EndpointSpec } from '@fairlead/api/of-proxies'
import { codeOf } from '@fairlead/engine'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { replaceFile } from '../listen/replace-file.ts'

/** Map from id to wanted endpoint. */
const Wanted = Type.Record(Type.String(), EndpointSpec)
/** Contents of the proxy's file: the endpoints that the server has asked for. */
export type Wanted = Static<typeof Wanted>

/** Reads the endpoints written last; empty without a file. Throws if the file is damaged. */
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

/** Replaces the file, which only its owner can read (it holds keys). Writers must take turns. */
export async function writeWanted(path: string, wanted: Wanted): Promise<void> {
  await replaceFile(path, JSON.stringify(wanted))
}
