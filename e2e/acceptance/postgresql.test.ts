import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startPostgres } from '../../packages/server/test/postgres.ts'
import { postgresHere } from '../../packages/server/test/postgres-here.ts'
import { startFairlead } from '../../proof/start-fairlead.ts'
import { startLoaded, upgradeWithKill } from '../support/killed-upgrade.ts'

test.skipIf(postgresHere() === null)(
  'with the state in PostgreSQL, too, an upgrade whose server is killed in the handover is finished, and nothing is lost',
  async () => {
    await using postgres = await startPostgres()
    const { host, database, user } = await postgres.makeDatabase()
    await using fairlead = await startFairlead({
      serverMain: join(import.meta.dirname, '../support/crash-main.ts'),
      env: {
        FAIRLEAD_STORE: `postgres://${user}@localhost/${database}?host=${host}`,
        FAIRLEAD_STORE_KEY: randomBytes(32).toString('base64'),
      },
    })
    await using loaded = await startLoaded(fairlead)
    const action = await upgradeWithKill(loaded, { victim: 'server', when: 'before promote' })
    expect(action).toMatchObject({ outcome: 'completed', certificates: [{ full_syncs: 0 }], warnings: [] })
    expect(await loaded.load.stop()).toMatchObject({ errors: {}, reconnects: 0, refused: 0, unknown: 0 })
    expect(await loaded.load.readBack()).toMatchObject({ lost: 0, duplicated: 0, examples: [] })
    const rows = await postgres.run('select count(*) as there from databases', database)
    expect(Number(rows[0]?.['there'])).toBe(1)
  },
)
