import { execFile } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startLoad } from '@fairlead/ledger'
import { loadConfig, verifyAuditOf } from '@fairlead/server'
import { expect, test } from 'vitest'
import { makeAuthority, makeEndpointCertificate } from '../../../packages/server/src/tls/make-certificate.ts'
import { startPostgres } from '../../../packages/server/test/postgres.ts'
import { postgresHere } from '../../../packages/server/test/postgres-here.ts'
import { usualPair } from '../../../proof/engine-pairs.ts'
import { type Fairlead, startFairlead } from '../../../proof/start-fairlead.ts'
import { until } from '../../../proof/until.ts'

const { from, to } = usualPair()
const main = join(import.meta.dirname, '../../../packages/cli/src/main.ts')
const run = promisify(execFile)

test.skipIf(postgresHere() === null)(
  'a store is copied to a PostgreSQL, over TLS and with a password, in the middle of an upgrade and under load: the same action goes on to its end, and no write is lost',
  { timeout: 180_000 },
  async () => {
    await using fairlead = await startFairlead()
    const { api } = fairlead
    const body = { name: 'moves', memory_size: 0, replication: true, engine_version: from }
    const { uid, action_uid } = await api.createDatabase({ body })
    await fairlead.untilEnded(action_uid)
    const { authentication_engine_pass: password = '' } = await api.getDatabase({ params: { uid } })
    const lookup = { url: `${fairlead.url}/v1/bdbs/${uid}`, token: fairlead.token }
    await using load = await startLoad({ kind: 'incr', connections: 4, perSecond: 1_000, password, lookup })
    const { action_uid: upgrade = '' } = await api.upgradeDatabase({
      params: { uid },
      body: { engine_version: to, supervised: true },
    })
    const shown = () => api.getAction({ params: { uid: upgrade } })
    await until('it waits for a person', async () => (await shown()).hold_reason === 'supervised')

    await using postgres = await startPostgresOfOthers(fairlead)
    await expect(copy(fairlead, postgres.env)).rejects.toThrow('another Fairlead server runs')
    await fairlead.server.end('SIGTERM')
    const before = load.acked()
    expect(await copy(fairlead, postgres.env)).toMatch(/^\d+ rows .*store\.db\.copied/)
    await fairlead.server.start(postgres.env)
    await load.untilAcked(before + 100)

    expect(await shown()).toMatchObject({ hold_reason: 'supervised', certificates: [] })
    await api.resumeAction({ params: { uid: upgrade } })
    expect((await fairlead.untilEnded(upgrade)).status).toBe('completed')
    // Root has started it: the server, which reads that password and speaks to PostgreSQL, is another user.
    if (process.geteuid?.() === 0) expect(statSync(`/proc/${fairlead.server.pid}`).uid).not.toBe(0)
    await load.untilAcked(load.acked() + 100)
    await load.stop()
    const { lost, duplicated } = await load.readBack()
    expect({ lost, duplicated }).toEqual({ lost: 0, duplicated: 0 })
    const { fault } = await verifyAuditOf(loadConfig(fairlead.environment), undefined)
    expect(fault).toBeUndefined()
    await fairlead.server.end('SIGTERM')
  },
)

/** A PostgreSQL that asks for TLS and a password, and the server's variables for it. */
async function startPostgresOfOthers({ home }: Fairlead) {
  await using opened = new AsyncDisposableStack()
  const postgres = opened.use(await startPostgres({ tcp: true }))
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-authority-'))
  opened.defer(() => rm(folder, { recursive: true }))
  await chmod(folder, 0o755)
  const authority = await makeAuthority(Date.now())
  const { cert, key } = await makeEndpointCertificate(authority, ['localhost'], Date.now())
  await postgres.write('server.crt', cert)
  await postgres.write('server.key', key)
  await postgres.write('pg_hba.conf', 'local all all trust\nhostssl all all all scram-sha-256\n')
  const { database, port } = await postgres.makeDatabase()
  await postgres.run('alter system set ssl = on')
  await postgres.run(
    `create user fairlead password 'of-the-cluster'; alter database ${database} owner to fairlead`,
  )
  await postgres.stop('fast')
  await postgres.start()
  await writeFile(join(folder, 'ca.pem'), authority.cert, { mode: 0o644 })
  // In a place that the server can read: see docs/operate/postgresql.md.
  const own = join(home, 'server', 'own')
  const file = join(existsSync(own) ? own : home, 'postgres-password')
  await writeFile(file, 'of-the-cluster\n', { mode: 0o600 })
  if (existsSync(own)) await chown(file, statSync(own).uid, statSync(own).gid)
  const owned = opened.move()
  return {
    env: {
      FAIRLEAD_STORE: `postgres://fairlead@localhost:${port}/${database}?sslmode=verify-full&sslrootcert=${join(folder, 'ca.pem')}`,
      FAIRLEAD_STORE_PASSWORD_FILE: file,
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** What the command prints. Rejects with its error text when it fails. */
async function copy(fairlead: Fairlead, env: Readonly<Record<string, string>>): Promise<string> {
  const all = { PATH: process.env['PATH'] ?? '', ...fairlead.environment, ...env }
  const args = ['--conditions=@fairlead/source', main, 'store', 'copy']
  const { stdout } = await run(process.execPath, args, { env: all }).catch((cause: { stderr: string }) => {
    throw new Error(cause.stderr)
  })
  return stdout
}
