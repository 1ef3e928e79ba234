import { readFile, writeFile } from 'node:fs/promises'
import { zipSync } from 'fflate'
import type { Fairlead } from '../start-fairlead.ts'
import { type TallyVersion, testModule } from './build-modules.ts'
import type { ModulePackage } from './module-package.ts'
import { tallyPackage } from './tally-package.ts'

/** Uploads our own test module in this version, its module.json changed by `changes`. Returns its uid. */
export async function addTally(
  fairlead: Fairlead,
  version: TallyVersion,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  return addModule(fairlead, await tallyPackage(version, changes), await testModule(version))
}

/** Packs the file with this module.json, and uploads it as people do. Returns its uid. */
export async function addModule(fairlead: Fairlead, json: ModulePackage, path: string): Promise<string> {
  const { uid } = await fairlead.api.uploadModule({ file: inPieces(await pack(json, path)) })
  return uid
}

/** Writes the package of our own test module to this path. */
export async function packTally(version: TallyVersion, path: string): Promise<void> {
  await writeFile(path, await pack(await tallyPackage(version), await testModule(version)))
}

async function pack(json: ModulePackage, path: string): Promise<Uint8Array> {
  return zipSync({
    'module.json': Buffer.from(JSON.stringify(json)),
    [String(json.module_file)]: await readFile(path),
  })
}

async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
