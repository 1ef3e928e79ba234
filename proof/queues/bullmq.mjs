/** BullMQ: see queues.ts. */
import { appendFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setTimeout as pause } from 'node:timers/promises'

const { HOST: host, PORT: port, PASSWORD: password, EFFECTS: effects, PACKAGES: packages } = process.env
const { Queue, Worker } = createRequire(`${packages}/package.json`)('bullmq')
const connection = { host, port: Number(port), username: 'default', password }

if (process.argv[2] === 'work') {
  const act = async ({ data }) => appendFileSync(effects, `${data.n}\n`)
  const worker = new Worker('jobs', act, {
    connection: { ...connection, maxRetriesPerRequest: null },
    concurrency: 4,
  })
  worker.on('error', (cause) => console.error(String(cause)))
} else {
  const queue = new Queue('jobs', { connection })
  queue.on('error', (cause) => console.error(String(cause)))
  let isOver = false
  process.stdin.on('end', () => {
    isOver = true
  })
  process.stdin.resume()
  for (let n = 1; !isOver; n += 1) {
    await queue.add('job', { n })
    console.log(n)
    await pause(10)
  }
  // It reads CLIENT LIST.
  const workers = await queue.getWorkers()
  if (workers.length === 0) console.error('getWorkers found none')
  await queue.close()
}
