import { connectOnce, NotInTime, type Place } from './open-link.ts'

const MOST_BYTES = 4_096

/**
 * Sends `request` to an engine on a separate connection. Returns the first `wanted` lines. Throws the
 * connection's error, or NotInTime after `withinMs`.
 */
export async function askOnce(
  place: Place,
  request: Buffer,
  { wanted, withinMs }: { readonly wanted: number; readonly withinMs: number },
): Promise<readonly string[]> {
  const at = `${place.host}:${place.port}`
  const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>()
  promise.catch(() => undefined) // the socket may fail while it is being connected
  const timer = setTimeout(() => reject(new NotInTime(`${at} does not answer a new connection`)), withinMs)
  let heard = ''
  try {
    const socket = await connectOnce(place, performance.now() + withinMs, (bytes) => {
      heard += bytes.toString('latin1')
      const lines = heard.split('\r\n')
      if (lines.length > wanted) resolve(lines.slice(0, wanted))
      else if (heard.length > MOST_BYTES) reject(new Error(`${at} does not answer as engines do`))
    })
    using _ = { [Symbol.dispose]: () => void socket.destroy() }
    socket.on('close', () => reject(new Error(`${at} closed the connection`)))
    socket.write(request)
    return await promise
  } finally {
    clearTimeout(timer)
  }
}
