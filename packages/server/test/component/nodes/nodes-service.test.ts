import { ApiError } from '@fairlead/api'
import { expect, test } from 'vitest'
import { type AgentLink, AgentUnreachable } from '../../../src/nodes/agent-link.ts'
import { createNodes } from '../../../src/nodes/nodes-service.ts'

const facts = {
  uid: 1,
  host: '10.0.0.7',
  cores: 4,
  memoryTotalBytes: 100,
  memoryFreeBytes: 40,
  diskFreeBytes: 7,
}
const settings = async () => ({ unsoundEnginesAllowed: true })
type Options = { readonly signal?: AbortSignal } | undefined

/** An agent that gives no answer while it is stopped, to any question. */
function agentThatStops() {
  const world = { isStopped: false }
  const answer = async (value: unknown, options: Options) => {
    if (!world.isStopped) return value
    const { promise, reject } = Promise.withResolvers<never>()
    options?.signal?.addEventListener('abort', () => reject(new AgentUnreachable('no answer')))
    return promise
  }
  const agent = {
    describeNode: (_: object, options: Options) => answer(facts, options),
    reportNode: (_: object, options: Options) =>
      answer({ ...facts, shards: [{ id: 's1', port: 1 }] }, options),
    reportShards: (_: object, options: Options) => answer({ shards: [{ id: 's1' }] }, options),
    listBuilds: (_: object, options: Options) => answer([{ flavour: 'valkey', version: '8.1.1' }], options),
  }
  return { world, nodes: createNodes(agent as unknown as AgentLink, settings) }
}

test('a node whose agent is stopped is listed with what was last known, and so are its builds', async () => {
  const { world, nodes } = agentThatStops()
  const [up] = await nodes.list()
  expect(up).toMatchObject({ host: '10.0.0.7', report: facts, known: facts })
  expect(await nodes.knownBuilds()).toMatchObject([{ version: '8.1.1' }])
  expect(await nodes.reportsOf([1])).toEqual([{ id: 's1' }])

  world.isStopped = true
  const known = { ...facts, shards: [{ id: 's1' }] }
  expect(await nodes.list()).toEqual([{ uid: 1, host: '10.0.0.7', report: null, known }])
  expect(await nodes.knownBuilds()).toMatchObject([{ version: '8.1.1' }])
  expect(await nodes.reportsOf([1])).toBeNull()
})

test('a server that has never heard of the agent still knows where its node is', async () => {
  const { world, nodes } = agentThatStops()
  world.isStopped = true
  expect(await nodes.list()).toEqual([{ uid: 1, host: '127.0.0.1', report: null, known: null }])
  expect(await nodes.knownBuilds()).toEqual([])
  await expect(nodes.builds('soon')).rejects.toMatchObject({ code: 'unavailable' })
})

test('a report that takes an hour is not waited for once the agent does not answer', async () => {
  const hour = () => new Promise<never>(() => undefined)
  const gone = async () => {
    throw new AgentUnreachable('no answer')
  }
  const agent = { describeNode: gone, reportNode: hour, reportShards: hour, listBuilds: hour }
  const nodes = createNodes(agent as unknown as AgentLink, settings)
  expect(await nodes.list()).toMatchObject([{ report: null }])
  expect(await nodes.reportsOf([1])).toBeNull()
  expect(await nodes.knownBuilds()).toEqual([])
})

test('a fetch is refused in the words of the agent, and when the agent is away or too old', async () => {
  const startedBy = (cause: Error) => {
    const startFetch = async () => {
      throw cause
    }
    const nodes = createNodes({ startFetch } as unknown as AgentLink, settings)
    return nodes.startFetch({ flavour: 'valkey', version: null, alsoUnstable: false })
  }
  const busy = new ApiError(429, 'too_many_requests', '2 builds are being fetched')
  await expect(startedBy(busy)).rejects.toMatchObject({ code: 'too_many_requests', message: busy.message })
  const away = new AgentUnreachable('no answer')
  await expect(startedBy(away)).rejects.toMatchObject({ name: 'Refusal', code: 'unavailable' })
  const older = new ApiError(404, 'not_found', 'there is no POST /agent/builds/fetches here')
  await expect(startedBy(older)).rejects.toMatchObject({ code: 'unavailable', wayOut: 'start it again' })
})
