import type { Reply } from '@fairlead/engine'
import { expect, test } from 'vitest'
import { createProbe } from '../../../src/engine/ask-engine.ts'
import { engineTarget } from '../../../src/engine/engine-config.ts'
import { watchSettings } from '../../../src/engine/watch-settings.ts'
import { connectAs, makeHome, makeSpec, until } from '../../agent-home.ts'
import { engines } from '../../engines.ts'

const EVERY_MS = 30_000

test.each(engines)(
  'a setting that is changed in a running $flavour $version changes the state, and nothing else does',
  async (engine) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const spec = await makeSpec({}, engine)
    await home.client.putShard({ params: { id: 's1' }, body: spec })
    await home.becomes('s1', { state: 'running' })
    using admin = await connectAs('fairlead', spec)
    using probe = createProbe()
    let now = 0
    const settings = watchSettings(() => now)
    // The probe waits a second for an answer. On a machine under load that may be too short, and the state
    // stays as it is.
    const next = async () => {
      let isAnswered = false
      const callAgain = async (words: readonly string[]) => {
        const reply = await probe.callAgain(words)
        isAnswered = true
        return reply
      }
      while (!isAnswered) {
        await until(async () => (await probe.ask(engineTarget(spec))).kind === 'pong')
        now += EVERY_MS
        await settings.look({ callAgain }, { startedAt: 1 })
      }
      return settings.state()
    }
    const first = await next()
    expect(first).toMatch(/^[\w+/]{43}=$/)
    await admin.call('SET', 'key', 'value')
    await admin.call('BGSAVE')
    expect(await next()).toBe(first)
    await admin.call('ACL', 'SETUSER', 'added', 'on', '>secret', '~*', '+@read')
    const withUser = await next()
    expect(withUser).not.toBe(first)
    await admin.call('CONFIG', 'SET', 'slowlog-max-len', '77')
    expect(await next()).not.toBe(withUser)
  },
)

test('each process is asked at once and then every 30 s; if it does not answer, its state stays the same', async () => {
  let [now, asked] = [0, 0]
  let answer = async (): Promise<Reply> => ['a', 'b']
  const probe = {
    callAgain: (): Promise<Reply> => {
      asked += 1
      return answer()
    },
  }
  const settings = watchSettings(() => now)
  const look = (startedAt = 1) => settings.look(probe, { startedAt })
  await look()
  await look()
  expect(asked).toBe(2)
  const known = settings.state()
  answer = () => Promise.reject(new Error('away'))
  now += EVERY_MS
  await look()
  expect([asked, settings.state()]).toEqual([4, known])
  await look(2)
  expect([asked, settings.state()]).toEqual([6, ''])
})
