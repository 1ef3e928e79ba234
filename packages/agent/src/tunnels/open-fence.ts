import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createEpochFence, type Epoch, type EpochFence, type KeptEpochs, readKeptEpochs } from '@fairlead/api'
import { codeOf } from '@fairlead/engine'
import type { Logger } from 'pino'
import { writeDurably } from '../process/durable-file.ts'
import { readPlainFile } from '../process/open-plain-file.ts'

/** 256 buckets take a few KB. */
const MOST_BYTES = 64 * 1024

/**
 * Creates an agent's fence, which keeps the highest epochs in `agent/epochs.json` of its home. If that file
 * is damaged it starts empty, and logs that: each active server sends its epoch with its next request.
 * `onRaise`: see createEpochFence.
 */
export async function openFence(
  home: string,
  logger: Logger,
  onRaise: (epoch: Epoch) => void,
): Promise<EpochFence> {
  const path = join(home, 'agent', 'epochs.json')
  const kept = await readKept(path)
  if (kept === null) logger.warn({ path }, 'the epochs of servers cannot be read; the record starts again')
  const keep = async (epochs: KeptEpochs) => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeDurably(path, JSON.stringify(epochs))
  }
  return createEpochFence(kept ?? {}, keep, onRaise)
}

async function readKept(path: string): Promise<KeptEpochs | null> {
  try {
    return readKeptEpochs(await readPlainFile(path, MOST_BYTES))
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return {}
    throw cause
  }
}
