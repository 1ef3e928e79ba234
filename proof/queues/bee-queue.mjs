/** Bee-Queue: see queues.ts. */
import { appendFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setTimeout as pause } from 'node:timers/promises'

const { HOST: host, PORT: port, PASSWORD: password, EFFECTS: effects, PACKAGES: packages } = process.env
const Queue = createRequire(`${packages}/package.json`)('bee-queue')
const isWorker = process.argv[2] === 'work'
const queue = new Queue('jobs', { redis: { host, port: Number(port), password }, isWorker })
queue.on('error', (cause) => console.error(String(cause)))

if (isWorker) queue.process(4, async ({ data }) => appendFileSync(effects, `${data.n}\n`))
else {
  let isOver = false
  process.stdin.on('end', () => {
    isOver = true
  })
  process.stdin.resume()
  for (let n = 1; !isOver; n += 1) {
    await queue.createJob({ n }).save()
    console.log(n)
    await pause(10)
  }
  await queue.close()
}
