/** A client of its own process beside the followers: it asks for the action again and again, until its parent says that it is enough, and tells how long each answer took. */
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'

const EVERY_MS = 20
const [url = ''] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true })
const took: number[] = []
let isEnough = false
process.on('message', () => {
  isEnough = true
})
process.on('disconnect', () => process.exit())

while (!isEnough) {
  const began = performance.now()
  const asked = get(`${url}/v1/actions/a`, { agent, headers: { authorization: 'Bearer admin' } })
  const [response] = await once(asked, 'response')
  await text(response)
  took.push(performance.now() - began)
  await pause(EVERY_MS)
}
agent.destroy()
process.send?.(took)
