import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Action, lead } from './test-action.ts'
import type { Pick } from './test-engines.ts'
import { beginUpgrade, expectReached, expectSound, shapes } from './test-upgrade.ts'
import { kill, membersOf } from './test-world.ts'
import type { Seen, Step } from './topology.ts'

/** The same runs each time: what is rarer than these is looked for by hand. */
const some = { numRuns: 50, seed: 1 }
const done = { kind: 'done', why: '' }

describe('when the server is killed again and again, between any two of its effects,', () => {
  test('an upgrade ends as if nothing had been, with every write, and never with two that take writes', () => {
    fc.assert(
      fc.property(shapes, fc.integer({ min: 5, max: 60 }), (shape, deaths) => {
        const { action, pick } = beginUpgrade(shape)
        expect(lead(action, { step: soundAndReleased, effects: dying(pick, deaths) })).toEqual(done)
        expectReached(action)
        const primaries = action.world.teams.map(({ recorded }) => recorded)
        if (shape.preserveRoles) expect(primaries).toEqual(action.asked.homes)
      }),
      some,
    )
  })
})

describe('when engines are killed as well,', () => {
  test('an upgrade still ends, and loses nothing but what died with all who held it', () => {
    fc.assert(
      fc.property(shapes, fc.integer({ min: 1, max: 4 }), fc.nat({ max: 20 }), (shape, kills, deaths) => {
        const { action, pick } = beginUpgrade(shape)
        const end = lead(action, {
          step: (seen, step) => {
            // It is tried although the last primary answers, as a replica of somebody who is gone.
            if (step.why !== 'the last primary must come back') expectSound(seen, step)
          },
          effects: dying(pick, deaths),
          events: killing(pick, kills),
        })
        if (end.kind === 'done') expectReached(action)
      }),
      { numRuns: 120, seed: 1 },
    )
  })
})

/** The server dies after some effects, so often; then it lives. */
function dying(pick: Pick, deaths: number): () => number {
  let left = deaths
  return () => {
    if (left === 0 || pick(3) > 0) return Number.POSITIVE_INFINITY
    left -= 1
    return pick(9)
  }
}

function killing(pick: Pick, kills: number): (action: Action) => void {
  let left = kills
  return ({ world }) => {
    if (left === 0 || pick(12) > 0) return
    const members = membersOf(world)
    const victim = members[pick(members.length)]
    if (victim === undefined) return
    left -= 1
    kill(world, victim)
  }
}

/** A handover is closed only after nobody is held by it any longer. */
function soundAndReleased(seen: Seen, step: Step): void {
  expectSound(seen, step)
  if (step.kind === 'seal-handover') expect(seen.handover?.released).toBe(true)
}
