import { Agent } from 'node:https'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { claimPorts } from '../../../proof/claim-ports.ts'
import { adminPassword, startFairlead } from '../../../proof/start-fairlead.ts'
import { monitors } from './monitors.ts'
import { playbooks } from './playbooks.ts'
import { createReplayer, type Heard, type Replay } from './replay.ts'
import { sdks } from './sdks.ts'
import { shellScripts } from './shell-scripts.ts'
import { terraform } from './terraform.ts'

/* Literal requests as programs of the wider API send them, over HTTPS, and what such a program reads of the answers. The order matters: later requests use what earlier ones created. */

const programs = {
  'scripts with curl': shellScripts,
  'typed clients': sdks,
  'a playbook': playbooks,
  'a declarative client': terraform,
  'a monitor': monitors,
}

const opened = new AsyncDisposableStack()
let replay: (one: Replay) => Promise<Heard>
beforeAll(async () => {
  const { from: port } = opened.use(await claimPorts())
  const fairlead = opened.use(await startFairlead({ env: { FAIRLEAD_HTTPS_PORT: String(port) } }))
  const { ca_cert: ca } = await fairlead.api.getCertificates({})
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca })
  opened.defer(() => agent.destroy())
  const authorization = `Basic ${Buffer.from(`admin:${adminPassword}`).toString('base64')}`
  replay = createReplayer({ port, agent, authorization })
})
afterAll(() => opened.disposeAsync())

for (const [program, replays] of Object.entries(programs))
  describe(program, () => {
    let failed: string | undefined
    const rows = replays.map((one, n) => [`${n + 1}. ${one.sends[0]} ${one.sends[1]}`, one] as const)
    test.each(rows)('%s', async (name, one) => {
      // A request that waits may wait for something that a failed request has not begun.
      if (one.until !== undefined) expect(failed).toBeUndefined()
      const before = failed
      failed ??= name
      const { status, headers, body } = await replay(one)
      expect([status, body]).toMatchObject([one.status ?? 200, one.reads ?? {}])
      if (one.readsHeaders !== undefined) expect(headers).toMatchObject(one.readsHeaders)
      if (status >= 400 && one.sends[0] !== 'HEAD')
        expect(body).toEqual({
          error_code: expect.stringMatching(/^[a-z_]+$/),
          message: expect.any(String),
          ...([400, 406, 409].includes(status) && { obstacles: expect.any(Array) }),
        })
      expect(headers['x-request-id']).toMatch(/^[\w.:-]{1,64}$/)
      failed = before
    })
  })

test('there are at least 150 of them', () => {
  expect(Object.values(programs).flat().length).toBeGreaterThanOrEqual(150)
})
