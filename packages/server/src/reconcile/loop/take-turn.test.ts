import { pino } from 'pino'
import { expect, test } from 'vitest'
import { LeaseLost } from '../../leases/lease-lost.ts'
import { StaleEpoch } from '../../nodes/agent-link.ts'
import { takeTurn } from './take-turn.ts'

const log = pino({ level: 'silent' })

/** Leases of which one database is held, until `held` is set. */
function makeLeases() {
  const raised: number[] = []
  const leases = {
    held: true,
    raised,
    heldEpoch: () => (leases.held ? 3 : undefined),
    during: <T>(_: number, work: () => Promise<T>) => work(),
    raise: async (uid: number) => void raised.push(uid),
  }
  return leases
}

test('a turn whose lease is too short for an effect comes again, because the lease may be renewed; a turn whose lease is over ends', async () => {
  const leases = makeLeases()
  const turn = () => Promise.reject(new LeaseLost(7))
  expect(await takeTurn(7, leases, turn, log)).toMatchObject({ next: 'again' })
  leases.held = false
  expect(await takeTurn(7, leases, turn, log)).toEqual({ next: 'gone' })
  expect(await takeTurn(7, leases, () => Promise.reject(new Error('it breaks')), log)).toEqual({
    next: 'gone',
  })
})

test('an order that is refused because of its epoch raises the epoch of a lease that is held, and is trouble', async () => {
  const leases = makeLeases()
  const turn = () => Promise.reject(new StaleEpoch('replaced'))
  await expect(takeTurn(7, leases, turn, log)).rejects.toBeInstanceOf(StaleEpoch)
  expect(leases.raised).toEqual([7])
  leases.held = false
  expect(await takeTurn(7, leases, turn, log)).toEqual({ next: 'gone' })
  expect(leases.raised).toEqual([7])
})
