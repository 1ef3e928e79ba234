import { connect, type Socket } from 'node:net'
import { setImmediate as nextRound } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createAdmission, createShare } from '../../../src/listen/admission.ts'
import { listen } from '../../../src/listen/listen.ts'
import { freePort, makeEndpointSpec } from '../../stage.ts'

const CLIENTS = 100

test.each([1, 2])(
  'each round of the event loop accepts one client from each port, however many connect at once, so that others have their turn: %i ports',
  async (ports) => {
    await using stack = new AsyncDisposableStack()
    const admission = createAdmission(1_000)
    let taken = 0
    for (let n = 0; n < ports; n += 1) {
      const wanted = makeEndpointSpec(await freePort(), 1)
      const share = stack.use(createShare(admission, `${n}`))
      const admit = (socket: Socket) => {
        taken += 1
        socket.destroy()
        return undefined
      }
      stack.use(
        await listen(
          wanted,
          { reusePort: false, share, strangers: admission.strangers, clients: () => [] },
          admit,
          admit,
        ),
      )
      for (let client = 0; client < CLIENTS; client += 1) {
        const socket = connect(wanted.port, wanted.host).on('error', () => undefined)
        stack.defer(() => void socket.destroy())
      }
    }
    let most = 0
    for (let before = 0; taken < ports * CLIENTS; before = taken) {
      await nextRound()
      most = Math.max(most, taken - before)
    }
    // This is the behaviour of libuv. If libuv accepted all at once, the proxy would have to limit them
    // itself.
    expect(most).toBe(ports)
  },
)
