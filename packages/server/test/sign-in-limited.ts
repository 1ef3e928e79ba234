import type { TestControlPlane } from './control-plane.ts'

const password = 'the-password-of-lim'

/**
 * Adds a user with `management` rights over only some databases (uids), signs it in, and returns the
 * Authorization header. `admin` is the header of a user that may do that.
 */
export async function signInLimited(
  running: TestControlPlane,
  admin: string,
  { management, uids }: { readonly management: string; readonly uids: readonly string[] },
): Promise<string> {
  const add = async (path: string, body: object) => {
    const answer = await running.send('POST', path, { auth: admin, body })
    if (answer.status !== 200) throw new Error(`not added: ${JSON.stringify(answer.body)}`)
    return answer.body['uid']
  }
  const role = await add('/v1/roles', { name: 'some', management, resources: [{ type: 'db', uids }] })
  await add('/v1/users', { name: 'lim', password, role_uids: [role] })
  return await running.signIn('lim', password)
}
