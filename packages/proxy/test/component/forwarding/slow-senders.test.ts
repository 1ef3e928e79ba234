import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { dial, makePair, until } from '../../stage.ts'
import { beginLongValue } from '../../stream-value.ts'

afterEach(() => vi.restoreAllMocks())

// invariant: A slow sender cannot postpone a handover without end.
test('a client that takes minutes to send one value delays a handover for one minute, then gets the reason and is closed; others notice nothing', async () => {
  await using pair = await makePair()
  await using other = await dial(pair.port)
  await other.ask('SET k before', '+OK\r\n')
  await using value = await beginLongValue(pair.port, 'k', 512 * 1024 * 1024)
  let isOver = false
  const sending = async () => {
    for (let bytes = 128 * 1024; !isOver; bytes += 8 * 1024) {
      await Promise.race([value.sendUpTo(bytes).catch(() => null), delay(1_000, undefined, { ref: false })])
      await delay(2)
    }
  }
  const sent = sending()
  /** Bytes that have arrived at the engine. */
  const arrived = async () => {
    const clients = (await pair.a.admin('CLIENT LIST')).matchAll(/qbuf=(\d+)/g)
    return Math.max(...Array.from(clients, ([, bytes]) => Number(bytes)))
  }
  const moreThan = (bytes: number) =>
    until(
      async () => (await arrived()) > bytes,
      () => `more than ${bytes} bytes of the value have arrived`,
    )
  await moreThan(128 * 1024)

  let ahead = 0
  const now = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead)
  /**
   * On a busy machine it may seem to have stopped: then the handover does not wait for it, and it is not
   * counted.
   */
  let last = 'none'
  const hold = async () => {
    const held = await pair.endpoint.hold({ deadlineMs: 60_000, drainMs: 150 })
    if (held.drained && held.cut === 0) pair.endpoint.release()
    else if (!held.drained) expect(held.code).toBe('long_requests')
    last = JSON.stringify(held)
    return held
  }
  await until(
    async () => (await hold()).tries === 5,
    () => `five holds were in vain: ${last}`,
  )
  await other.ask('GET k', '$6\r\nbefore\r\n')
  // Otherwise it would seem to have sent nothing for the minute that passes now: no handover waits for such a
  // client, and it would be counted anew.
  await moreThan(await arrived())
  ahead = 61_000
  await until(
    async () => (await hold()).cut === 1,
    () => `the client is closed: ${last}`,
  )
  await pair.moveRole()
  await pair.endpoint.switchTo({ host: '127.0.0.1', port: pair.b.port })
  isOver = true
  await sent
  await expect(value.isSet()).rejects.toThrow(/ERR this request took more than 60 s to arrive/)
  await other.ask('GET k', '$6\r\nbefore\r\n')
})
