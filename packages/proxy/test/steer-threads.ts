import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { threadId } from 'node:worker_threads'

/**
 * Loaded into every thread of a proxy (--import), so that a test may end or stop one: it writes the order
 * into the file `thread-N` of this folder; 0 is the main thread. The file is removed when the order is
 * carried out. A thread that hangs goes on when there is a file `thread-N-goes-on`, which it removes.
 */
const folder = process.env['STEER_FOLDER']
const file = folder === undefined ? '' : join(folder, `thread-${threadId}`)

setInterval(() => {
  if (file === '' || !existsSync(file)) return
  const what = readFileSync(file, 'utf8')
  if (what === '') return
  rmSync(file)
  if (what !== 'hang') throw new Error('the test has ended this thread')
  while (!existsSync(`${file}-goes-on`)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
  rmSync(`${file}-goes-on`)
}, 10).unref()
