import { test } from 'vitest'
import { campaign } from '../../../proof/campaign.ts'
import { startFairlead } from '../../../proof/start-fairlead.ts'
import { killAndJudge, roundsOf } from '../../support/random-kills.ts'

const { seed, times } = campaign()
const seconds = times('kills', 60)

test('whichever process is killed in an upgrade, whenever: one primary a group in the end, and no loss that is not reported', {
  timeout: (seconds + 300) * 1_000,
}, async () => {
  const deadline = performance.now() + seconds * 1_000
  await using fairlead = await startFairlead()
  const next = roundsOf(seed)
  for (let n = 0; performance.now() < deadline; n += 1)
    await killAndJudge(fairlead, next(), `seed ${seed}, round ${n}`)
})
