import { expect, test } from 'vitest'
import type { Action, ActionNews } from '../../../../src/core/state/action.ts'
import { AgentUnreachable } from '../../../../src/nodes/agent-link.ts'
import { handlePassFailure } from '../../../../src/reconcile/loop/handle-pass-failure.ts'
import type { TurnPorts } from '../../../../src/reconcile/loop/turn-ports.ts'

/** An upgrade that has not moved a role, of a database whose shards answer nothing just now. */
function upgrading({ undo } = { undo: false }) {
  const goal = { kind: 'keep', undo, from: { build: { flavour: 'redis', version: '7.0.15' } } }
  const action = {
    uid: 'one',
    databaseUid: 1,
    kind: 'upgrade',
    goal,
    error: null,
    waiting: null,
  } as unknown as Action
  const news: ActionNews[] = []
  const ports = {
    databases: { get: async () => ({ uid: 1, groups: [] }) },
    actions: { active: async () => action, update: async (_: string, more: ActionNews) => news.push(more) },
    shards: { listOf: async () => [], reservedBytes: async () => 0 },
    handovers: { last: async () => new Map() },
    agent: { reportNode: async () => node, reportShards: async () => node },
    log: { warn: () => undefined },
    now: () => 0,
  } as unknown as TurnPorts
  return { ports, isGivenUp: () => news.some(({ error }) => error !== undefined), last: () => news.at(-1) }
}
const node = { host: '127.0.0.1', memoryFreeBytes: 0, diskFreeBytes: 0, shards: [] }

test('repeated failures end an upgrade that has moved no role', async () => {
  const { ports, isGivenUp } = upgrading()
  await handlePassFailure(1, new Error('it cannot be done'), 8, ports)
  expect(isGivenUp()).toBe(false)
  await handlePassFailure(1, new Error('it cannot be done'), 9, ports)
  expect(isGivenUp()).toBe(true)
})

test('trouble that lasts and cannot be undone asks a person; a moment of it does not', async () => {
  const { ports, isGivenUp, last } = upgrading({ undo: true })
  await handlePassFailure(1, new Error('it cannot be done'), 8, ports)
  expect(last()?.needsPerson).toBeUndefined()
  await handlePassFailure(1, new Error('it cannot be done'), 9, ports)
  expect(isGivenUp()).toBe(false)
  expect(last()).toMatchObject({ holdReason: 'trouble', needsPerson: true })
})

test('an agent that answers late ends no upgrade, however often: the action says what it waits for', async () => {
  const { ports, isGivenUp, last } = upgrading()
  const late = new AgentUnreachable('the agent does not answer: no tunnel within 2500 ms')
  await handlePassFailure(1, late, 9, ports)
  await handlePassFailure(1, late, 90, ports)
  expect(isGivenUp()).toBe(false)
  expect(last()).toMatchObject({
    holdReason: 'trouble',
    waitingFor: expect.stringContaining(late.message),
    // For so long that a person should look.
    waiting: { on: 'person', code: 'trouble', stuck: true },
  })
})
