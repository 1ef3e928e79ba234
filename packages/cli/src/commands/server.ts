import { type Config, createControlPlane } from '@fairlead/server'
import { createLog } from '../create-log.ts'
import { openHome } from '../open-home.ts'
import { announce, untilStopped } from '../until-stopped.ts'

/** Runs the server until it is asked to stop. */
export async function runServer(config: Config): Promise<void> {
  const stopped = untilStopped()
  const log = createLog(config, 'server')
  openHome(config.home, log)
  await using server = await createControlPlane(config, { now: Date.now, log })
  const { url, generatedPassword, waitsToBeCreated, bootstrapSecret } = server
  const ready = { url, generatedPassword, bootstrapSecret, next: waitsToBeCreated ? 'create' : undefined }
  announce(ready, describeReady(config, ready))
  await stopped
}

/** What people need to go on: where the API is, and, on the first start, how to get in. */
export function describeReady(
  { adminUsername }: Config,
  { url = '', generatedPassword, bootstrapSecret, next }: Ready,
): string {
  const ready = `Fairlead is ready at ${url}`
  const secret = bootstrapSecret ?? 'as in FAIRLEAD_BOOTSTRAP_SECRET'
  if (next === 'create')
    return `${ready}\nIt waits to be created: POST ${url}/v1/bootstrap/create_cluster   bootstrap_secret: ${secret}`
  if (generatedPassword === undefined) return ready
  return `${ready}\nFirst user: ${adminUsername}   password: ${generatedPassword}   (it is shown only this once)`
}

/** What a server says when it is ready. */
export interface Ready {
  readonly url?: string | undefined
  readonly generatedPassword?: string | undefined
  readonly bootstrapSecret?: string | undefined
  /** What has to be done before anybody can sign in. */
  readonly next?: string | undefined
}
