import type { Connection } from './connection.ts'

/** More at once would overrun the engine's queue of connections: the kernel then takes a second to try again. */
const AT_ONCE = 200

/** Does `act` for each, some at a time. */
export async function eachOf(
  connections: readonly Connection[],
  act: (connection: Connection) => Promise<void>,
): Promise<void> {
  const rest = connections.values()
  const work = async (): Promise<void> => {
    for (const connection of rest) await act(connection)
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, connections.length) }, work))
}
