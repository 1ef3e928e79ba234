import { open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { WantedEndpoint } from '@fairlead/api'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'

/** The wanted endpoints, by id. */
const Wanted = Type.Record(Type.String(), WantedEndpoint)
export type Wanted = Static<typeof Wanted>

/** What was written last; nothing if nothing ever was. Throws when the file is not what was written. */
export async function readWanted(path: string): Promise<Wanted> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw cause
  }
  const value: unknown = JSON.parse(text)
  if (!Value.Check(Wanted, value)) throw new Error(`${path} does not hold wanted endpoints`)
  return value
}

/**
 * Replaces the file, which only its owner can read (keys are in it). After a crash at any point it holds the old text or
 * the new one, whole. Writers must take turns.
 */
export async function writeWanted(path: string, wanted: Wanted): Promise<void> {
  const draft = `${path}.draft`
  {
    await using file = await open(draft, 'w', 0o600)
    await file.writeFile(JSON.stringify(wanted))
    await file.sync()
  }
  await rename(draft, path)
  // The new name itself is only durable once the folder is.
  await using folder = await open(dirname(path), 'r')
  await folder.sync()
}
