import { once } from 'node:events'
import { isServerOfRoot } from '@fairlead/agent'
import { type Config, createControlPlane } from '@fairlead/server'
import { createLog } from '../create-log.ts'
import { openHome } from '../open-home.ts'
import { type PartCommand, serverCommand } from '../server-command.ts'
import { startPart, withoutOrders } from '../start-part.ts'
import { announce, untilStopped } from '../until-stopped.ts'

/** Runs the server until it is asked to stop: in this process, or, where it is a user of its own, in one that this process starts and waits for. */
export async function runServer(config: Config, env: NodeJS.ProcessEnv): Promise<void> {
  const stopped = untilStopped()
  const log = createLog(config, 'server')
  if (!isServerOfRoot()) {
    openHome(config.home, log)
    const command = await serverCommand(config, process.argv[1] ?? '', env, log)
    if (command.isOther) return await runOther(config, command, stopped)
  }
  await using server = await createControlPlane(config, { now: Date.now, log })
  const { url, generatedPassword, waitsToBeCreated, bootstrapSecret } = server
  const ready = { url, generatedPassword, bootstrapSecret, next: waitsToBeCreated ? 'create' : undefined }
  announce(ready, describeReady(config, ready))
  await stopped
}

async function runOther(config: Config, command: PartCommand, stopped: Promise<void>): Promise<void> {
  const child = startPart(command)
  const ended = once(child, 'close').then(() => 'ended' as const)
  child.once('message', (news) => {
    const ready = readyOf(news)
    announce({ ...ready }, describeReady(config, ready))
  })
  if ((await Promise.race([ended, stopped])) !== 'ended') child.kill('SIGTERM')
  await ended
  process.exitCode = child.exitCode ?? 1
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

/** The news of a part, as it may be shown: it may be another user. */
export function readyOf(news: unknown): Ready {
  const text = (name: keyof Ready): string | undefined => {
    const value = (news as Readonly<Record<string, unknown>> | null)?.[name]
    return typeof value === 'string' ? withoutOrders(value) : undefined
  }
  return {
    url: text('url'),
    generatedPassword: text('generatedPassword'),
    bootstrapSecret: text('bootstrapSecret'),
    next: text('next'),
  }
}

/** What a server says when it is ready. */
export interface Ready {
  readonly url?: string | undefined
  readonly generatedPassword?: string | undefined
  readonly bootstrapSecret?: string | undefined
  /** What the operator has to do before any user can sign in. */
  readonly next?: string | undefined
}
