import { createInterface } from 'node:readline'
import { startLoad } from '@fairlead/ledger'
import { adminPassword, startFairlead } from '../proof/start-fairlead.ts'
import { chooseEngines } from './choose-engines.ts'

/** So many counters are counted up: enough to see, little enough to leave the machine to the upgrade. */
const PER_SECOND = 2_000
const CLIENTS = 50

/**
 * A database on an older engine under load, with the console to upgrade it: prints the address, and how to
 * sign in. When Enter is pressed, or it is terminated, it reads every acknowledged write back, and returns
 * how many are missing or were done twice. Ctrl-C ends it at once.
 */
export async function showConsole(print: (line: string) => void): Promise<number> {
  const end = untilEnd()
  await using fairlead = await startFairlead()
  const { from, to } = chooseEngines()
  const body = { name: 'orders', memory_size: 256 << 20, replication: true, engine_version: from }
  const made = await fairlead.api.createDatabase({ body })
  await fairlead.untilEnded(made.action_uid)
  const { uid, authentication_engine_pass: password = '' } = await fairlead.api.getDatabase({
    params: { uid: made.uid },
  })
  await using load = await startLoad({
    kind: 'incr',
    connections: CLIENTS,
    perSecond: PER_SECOND,
    password,
    lookup: { url: `${fairlead.url}/v1/bdbs/${uid}`, token: fairlead.token },
  })
  print(`The console: ${fairlead.url}/databases/orders/upgrade?to=${to}`)
  print(`Sign in as admin with the password ${adminPassword}`)
  print(
    `${CLIENTS} clients write to the database "orders" (${from}): make a dry run, start the upgrade, and watch.`,
  )
  print('Enter ends it, and reads every acknowledged write back.')
  if ((await end) === 'interrupted') return 0
  const { acked } = await load.stop()
  const { lost, duplicated } = await load.readBack()
  print(`${acked} writes were acknowledged: ${lost} are lost, ${duplicated} were done twice.`)
  return lost + duplicated
}

/** A terminal interrupts server and agent, too, so that nothing can be read back then. */
function untilEnd(): Promise<'asked' | 'interrupted'> {
  return new Promise((resolve) => {
    const lines = createInterface({ input: process.stdin })
    const end = (how: 'asked' | 'interrupted') => {
      lines.close()
      resolve(how)
    }
    lines.once('line', () => end('asked'))
    process.once('SIGTERM', () => end('asked'))
    process.once('SIGINT', () => end('interrupted'))
  })
}
