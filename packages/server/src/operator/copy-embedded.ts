import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { stateFolder } from '../config/sockets.ts'
import { copyStore } from '../store/copy-store.ts'
import { openStore, storePlace } from '../store/open-store.ts'
import { createSecretBox, readStoreKey, type SecretBox } from '../store/secret-box.ts'

/**
 * Copies the embedded store to the PostgreSQL of `config`, and renames its file so that no server uses it
 * again. Databases keep serving. Returns the number of rows and the new path; throws if a server runs, or if
 * the PostgreSQL database was used.
 */
export async function copyEmbedded(
  config: Config,
): Promise<{ readonly rows: number; readonly aside: string }> {
  if (config.store === undefined) throw new Error('FAIRLEAD_STORE says where to copy to; it is not set')
  const folder = stateFolder(config.home)
  const file = join(folder, 'store.db')
  const aside = `${file}.copied`
  if (!existsSync(file) && existsSync(aside))
    throw new Error(`it was copied before: the store that it was is ${aside}`)
  if (!existsSync(file)) throw new Error(`there is no store at ${file}`)
  if (existsSync(aside)) throw new Error(`${aside} is there already: a store was copied before`)
  const box = createSecretBox(config.storeKey ?? readStoreKey(join(folder, 'store.key')))
  const rows = await copyBetween(file, config, folder, () => box)
  renameSync(file, aside)
  return { rows, aside }
}

async function copyBetween(file: string, config: Config, folder: string, readBox: () => SecretBox) {
  await using near = await openStore(file, readBox)
  await using far = await openStore(storePlace(config, folder), readBox)
  return await copyStore(near, far)
}
