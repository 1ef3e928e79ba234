/**
 * What does authentication cost? Logins beside bare password checks at the same cap, an authenticated read beside a
 * bare Fastify route with the same payload and serializer, over plain HTTP and over HTTPS, and that read's slowest hundredth while 50 clients log in
 * without a pause. `npm run bench -- auth [--rounds 9] [--seconds 2] [--json]`.
 *
 * Fairlead and the bare programs run in processes of their own, in turns, on one machine that the load shares.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import Table from 'cli-table3'
import { makeAuthority, makeEndpointCertificate } from '../../packages/server/src/tls/make-certificate.ts'
import { claimPorts } from '../../proof/claim-ports.ts'
import { build } from '../../proof/engine-pairs.ts'
import { adminPassword, startFairlead } from '../../proof/start-fairlead.ts'
import { bareHashesPerSecond, startBareRoute } from './bare.ts'
import { logInUntil } from './log-in.ts'
import { median } from './median.ts'
import { readDatabase } from './read-database.ts'

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
  },
})
const rounds = Number(flags.rounds)
const seconds = Number(flags.seconds)
/** Clients that log in: enough that checks never pause, and few enough that no client is refused. */
const CLIENTS = 24
const STORM_CLIENTS = 50
const CALM_RATE = 200
/** As many password checks at once as the server makes (identity/hashing/hashing.ts) on this machine. */
const atOnce = Math.min(3, availableParallelism())

await using ports = await claimPorts()
await using fairlead = await startFairlead({ env: { FAIRLEAD_HTTPS_PORT: String(ports.from) } })
const created = await fairlead.api.createDatabase({
  body: { name: 'read', memory_size: 0, engine_version: build('valkey', '8.1') },
})
await fairlead.untilEnded(created.action_uid)
const payload = await fairlead.api.getDatabase({ params: { uid: 1 } })
// A key of the same kind on both sides: the handshakes cost the same.
const pair = await makeEndpointCertificate(await makeAuthority(Date.now()), ['127.0.0.1'], Date.now())
await using bare = await startBareRoute(payload, pair)
const ours = { url: fairlead.url, token: fairlead.token }
const oursSecure = { url: `https://127.0.0.1:${ports.from}`, token: fairlead.token }
const bareSecure = { url: bare.httpsUrl }
const login = { url: fairlead.url, password: adminPassword }

const reads = { ours: [] as number[], bare: [] as number[] }
const secure = { ours: [] as number[], bare: [] as number[] }
const logins = { ours: [] as number[], bare: [] as number[] }
for (const target of [ours, bare, oursSecure, bareSecure]) await readDatabase(target, { seconds: 2 }) // a warm-up of all four
for (let round = 0; round < rounds; round += 1) {
  reads.ours.push((await readDatabase(ours, { seconds })).perSecond)
  reads.bare.push((await readDatabase(bare, { seconds })).perSecond)
  secure.ours.push((await readDatabase(oursSecure, { seconds })).perSecond)
  secure.bare.push((await readDatabase(bareSecure, { seconds })).perSecond)
  logins.ours.push(
    (await logInUntil(AbortSignal.timeout(seconds * 1000), { ...login, clients: CLIENTS })).perSecond,
  )
  logins.bare.push(await bareHashesPerSecond(atOnce, seconds))
  process.stderr.write(`round ${round + 1} of ${rounds}\n`)
}

const calm = await readDatabase(ours, { seconds: seconds * 2, rate: CALM_RATE })
const storm = new AbortController()
const storming = logInUntil(storm.signal, { ...login, clients: STORM_CLIENTS })
const stormy = await readDatabase(ours, { seconds: seconds * 3, rate: CALM_RATE })
storm.abort()
const stormed = await storming

const ratioOf = ({ ours: mine, bare: theirs }: typeof reads) =>
  Math.round(median(mine.map((value, n) => value / (theirs[n] ?? 1))) * 100) / 100
const result = {
  logins_per_second: {
    ours: Math.round(median(logins.ours)),
    bare: Math.round(median(logins.bare)),
    ratio: ratioOf(logins),
  },
  reads_per_second: {
    ours: Math.round(median(reads.ours)),
    bare: Math.round(median(reads.bare)),
    ratio: ratioOf(reads),
  },
  https_reads_per_second: {
    ours: Math.round(median(secure.ours)),
    bare: Math.round(median(secure.bare)),
    ratio: ratioOf(secure),
  },
  read_p99_ms: { calm: calm.p99Ms, while_50_log_in: stormy.p99Ms },
  storm: { logins_per_second: Math.round(stormed.perSecond), sent_away: stormed.sentAway },
}

if (flags.json) process.stdout.write(`${JSON.stringify(result)}\n`)
else {
  const table = new Table({
    head: ['', 'Fairlead', 'bare', 'ratio', 'goal'],
    style: { head: [], border: [] },
  })
  const { logins_per_second: l, reads_per_second: r, https_reads_per_second: s, read_p99_ms: p } = result
  table.push(
    ['logins a second', l.ours, l.bare, l.ratio, '≥ 0.85'],
    ['authenticated reads a second', r.ours, r.bare, r.ratio, '≥ 0.6'],
    ['the same over HTTPS', s.ours, s.bare, s.ratio, '≥ 0.6'],
    [`p99 of a read (${CALM_RATE} a second)`, `${p.calm} ms`, '', '', ''],
    ['p99 of it while 50 clients log in', `${p.while_50_log_in} ms`, '', '', '≤ 50 ms'],
  )
  process.stdout.write(`${table.toString()}\n`)
  process.stdout.write(
    `(meanwhile ${result.storm.logins_per_second} logins a second, ${result.storm.sent_away} sent away)\n`,
  )
}
