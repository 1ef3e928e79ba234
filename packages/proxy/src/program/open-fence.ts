import { readFile } from 'node:fs/promises'
import { createEpochFence, type EpochFence, type KeptEpochs, readKeptEpochs } from '@fairlead/api/of-proxies'
import { codeOf } from '@fairlead/engine'
import type { Log } from '../listen/cut-log.ts'
import { replaceFile } from '../listen/replace-file.ts'

/**
 * Opens the proxy's fence, with the highest epochs at `path`. If that file is damaged, it starts empty and
 * logs this: each server sends its epoch with its next request.
 */
export async function openFence(path: string, log: Log): Promise<EpochFence> {
  const kept = await readKept(path)
  if (kept === null) log('the epochs of servers cannot be read; the record starts again', { path })
  return createEpochFence(kept ?? {}, (epochs) => replaceFile(path, JSON.stringify(epochs)))
}

async function readKept(path: string): Promise<KeptEpochs | null> {
  try {
    return readKeptEpochs(await readFile(path, 'utf8'))
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return {}
    throw cause
  }
}
