/**
 * `node --conditions=@fairlead/source proof/modules/prepare-modules.ts`: builds and fetches the modules of
 * the tests, those that are missing. Part of the set-up of `npm test`. A module that could not be built or
 * fetched is a line on stderr and exit code 1.
 */
import { FetchError } from '@fairlead/agent'
import { messageOf } from '@fairlead/engine'
import { buildModules } from './build-modules.ts'
import { fetchRedisearch } from './redisearch.ts'

const troubles = await Promise.allSettled([buildModules(), fetchRedisearch()])
for (const trouble of troubles) {
  if (trouble.status === 'fulfilled') continue
  const { reason } = trouble
  process.exitCode = 1
  if (reason instanceof FetchError)
    process.stderr.write(`RediSearch could not be fetched, its tests are skipped: ${reason.message}\n`)
  else process.stderr.write(`${messageOf(reason)}\n`)
}
