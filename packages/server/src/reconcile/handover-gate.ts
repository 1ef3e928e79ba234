import { setTimeout as pause } from 'node:timers/promises'
import { type EngineConnection, readReplication } from '@fairlead/engine'

/** Above this the heir would make the writes wait for it. */
const LAG_BYTES = 256 * 1024
/** After a first full sync the stream is held back for up to a second (measured: 921 to 965 ms). */
const FLOWS_WITHIN_MS = 1_500

/**
 * Does the replication stream from `primary` to `heir` really flow? "Link up" and "online" come up to a second too
 * early. A probe is published on the primary; the heir's offset must pass it, and then be close behind twice.
 *
 * Returns 'open', or in words what is in the way. Stops nothing.
 */
export async function passGate(
  primary: EngineConnection,
  heir: EngineConnection,
  signal: AbortSignal,
): Promise<string> {
  const { replicas } = readReplication(await primary.info('replication'))
  const syncing = replicas.find(({ online }) => !online)
  if (syncing !== undefined) return `a full sync to ${syncing.host}:${syncing.port} is running`

  // PUBLISH is replicated, changes no data, and nobody listens on this channel.
  await primary.call('PUBLISH', '__fairlead__:probe', '')
  const probe = (await read(primary)).offset
  const deadline = performance.now() + FLOWS_WITHIN_MS
  let close = 0
  while (close < 2) {
    const [ahead, behind] = await Promise.all([read(primary), read(heir)])
    const flows = behind.link === 'up' && behind.replid === ahead.replid && behind.offset >= probe
    close = flows && ahead.offset - behind.offset < LAG_BYTES ? close + 1 : 0
    if (performance.now() > deadline) {
      return flows
        ? `the heir is ${ahead.offset - behind.offset} bytes behind; it must be within ${LAG_BYTES}`
        : 'the stream to the heir does not flow yet'
    }
    await pause(2, undefined, { signal })
  }
  return 'open'
}

async function read(connection: EngineConnection) {
  return readReplication(await connection.info('replication'))
}
