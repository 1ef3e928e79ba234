import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** The user `nobody` by its usual number: a local user that has nothing to do with Fairlead. */
export const otherUid = 65_534
/** Only root can become another user. */
export const canBeOther = process.getuid?.() === 0

/**
 * Sends requests in sequence to `url` as another local user, from a separate process, and returns their
 * statuses. Needs only the shell, because that user may not be able to read the test's files.
 */
export async function sendAsOther(
  url: string,
  requests: readonly { readonly path: string; readonly body: object }[],
): Promise<readonly number[]> {
  const { hostname, port } = new URL(url)
  const texts = requests.map(({ path, body }) => {
    const json = JSON.stringify(body)
    return `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${json.length}\r\nConnection: close\r\n\r\n${json}`
  })
  const script = `while IFS= read -r line; do exec 3<>/dev/tcp/${hostname}/${port}; printf '%b' "$line" >&3; head -1 <&3; exec 3>&-; done`
  const shell = spawn('bash', ['-c', script], { uid: otherUid, gid: otherUid, cwd: '/', stdio: 'pipe' })
  let heard = ''
  shell.stdout.on('data', (chunk) => {
    heard += String(chunk)
  })
  shell.stdin.end(texts.map((text) => `${text.replaceAll('\r\n', '\\r\\n')}\n`).join(''))
  await once(shell, 'close')
  return [...heard.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status))
}
