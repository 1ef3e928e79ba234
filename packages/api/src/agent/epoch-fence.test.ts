import { expect, test } from 'vitest'
import { createEpochFence, type Epoch, type KeptEpochs, readEpoch, readKeptEpochs } from './epoch-fence.ts'

const of = (bucket: number, epoch: number): Epoch => ({ bucket, epoch })
const stale = expect.objectContaining({ code: 'stale_epoch' })

test('a lower epoch is refused, in its own bucket only, also by the next process', async () => {
  let disk: KeptEpochs = {}
  const keep = async (epochs: KeptEpochs) => {
    disk = epochs
  }
  const fence = createEpochFence({}, keep)
  await fence.admit(of(7, 4))
  await fence.admit(of(7, 4))
  await expect(fence.admit(of(7, 3))).rejects.toEqual(stale)
  await fence.admit(of(8, 1))
  const next = createEpochFence(readKeptEpochs(JSON.stringify(disk)) ?? {}, keep)
  await expect(next.admit(of(7, 3))).rejects.toEqual(stale)
  await next.admit(of(7, 4))
})

test('an epoch is on disk when it is admitted, and the one below is refused and cut from its first moment on', async () => {
  const { promise: written, resolve: write } = Promise.withResolvers<void>()
  const raised: Epoch[] = []
  const saves: KeptEpochs[] = []
  const fence = createEpochFence(
    { '7': 4 },
    (epochs) => {
      saves.push(epochs)
      return written
    },
    (epoch) => raised.push(epoch),
  )
  let admitted = 0
  const both = [1, 2].map(() => fence.admit(of(7, 5)).then(() => (admitted += 1)))
  expect(raised).toEqual([of(7, 5)])
  await expect(fence.admit(of(7, 4))).rejects.toEqual(stale)
  expect([admitted, saves]).toEqual([0, [{ '7': 5 }]])
  write()
  await Promise.all(both)
})

test('a higher epoch that comes while the disk is waited for refuses the one before', async () => {
  const fence = createEpochFence({}, async () => undefined)
  const [lower, higher] = await Promise.allSettled([fence.admit(of(7, 5)), fence.admit(of(7, 6))])
  expect(lower).toMatchObject({ status: 'rejected', reason: { code: 'stale_epoch' } })
  expect(higher.status).toBe('fulfilled')
})

test('what the disk does not take is not admitted, and lower ones are still refused', async () => {
  let isFull = true
  const fence = createEpochFence({}, async () => {
    if (isFull) throw new Error('no space')
  })
  await expect(fence.admit(of(7, 5))).rejects.toThrow('no space')
  await expect(fence.admit(of(7, 4))).rejects.toEqual(stale)
  isFull = false
  await fence.admit(of(7, 5))
})

test('an order without an epoch is taken until a server has come that has been preceded by another one', async () => {
  const fence = createEpochFence({}, async () => undefined)
  await fence.admit(of(7, 1))
  fence.admitUnnamed()
  await fence.admit(of(8, 2))
  expect(() => fence.admitUnnamed()).toThrow(expect.objectContaining({ code: 'stale_epoch' }))
})

test.each(['', '7', '7:0', '256:1', '7:1:2', '-1:2', '7:1.5', '7:1e3'])('%j is no epoch', (header) => {
  expect(() => readEpoch(header)).toThrow(expect.objectContaining({ code: 'invalid_request' }))
})

test.each(['', '[]', '{"7":"x"}', '{"300":1}', '{"7":'])('%j is no file of epochs', (text) => {
  expect(readKeptEpochs(text)).toBeNull()
})
