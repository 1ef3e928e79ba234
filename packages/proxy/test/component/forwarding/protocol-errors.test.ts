import { expect, test } from 'vitest'
import { openEndpoint } from '../../../src/endpoint/endpoint.ts'
import { askDeep, compareInputs } from '../../protocol-inputs.ts'
import { builds, freePort, makeEndpointSpec, startEngine, until } from '../../stage.ts'

test.for(builds)(
  'an invalid request gets the answer of the engine itself, as without an endpoint: %s',
  async (build) => {
    await using engine = await startEngine(build)
    await using endpoint = await openEndpoint(makeEndpointSpec(await freePort(), engine.port))
    const ports = [engine.port, endpoint.wanted.port] as const
    expect(await compareInputs(...ports)).toEqual([])
    for (const [direct, through] of await askDeep(ports)) expect(through).toBe(direct)
    await until(() => endpoint.report().connections === 0)
  },
)
