import { type Config, createControlPlane } from '@fairlead/server'
import { createLog } from '../create-log.ts'
import { announce, untilStopped } from '../until-stopped.ts'

/** Runs the server until it is asked to stop. */
export async function runServer(config: Config): Promise<void> {
  const stopped = untilStopped()
  await using server = await createControlPlane(config, { now: Date.now, log: createLog(config, 'server') })
  const { url, generatedPassword } = server
  announce({ url, generatedPassword }, describeReady(config, url, generatedPassword))
  await stopped
}

/** What people need to go on: where the API is, and, on the first start, how to get in. */
export function describeReady(
  { adminUsername }: Config,
  url: string,
  generatedPassword: string | undefined,
): string {
  const ready = `Fairlead is ready at ${url}`
  if (generatedPassword === undefined) return ready
  return `${ready}\nFirst user: ${adminUsername}   password: ${generatedPassword}   (it is shown only this once)`
}
