import { connect, type Socket } from 'node:net'
import { setImmediate as nextRound } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { freePort, makeEndpointSpec } from '../../test/stage.ts'
import { createAdmission, createShare } from './admission.ts'
import { listen } from './listen.ts'

const CLIENTS = 100

test.each([1, 2])(
  'of clients that come at one moment each round of the event loop takes one from each port, so others have their turn: %i ports',
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
      }
      stack.use(
        await listen(wanted, { reusePort: false, share, strangers: admission.strangers }, admit, admit),
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
    // It is libuv that does so. If it took all at once again, they would have to be counted here.
    expect(most).toBe(ports)
  },
)
