import { addPassword, type Body, removePassword, setPassword } from '@fairlead/api'
import type { Mount } from '../../http/mount.ts'
import type { Passwords, PasswordsLeft } from '../../identity/passwords/passwords-service.ts'

/** Serves /v1/users/password, also with an expired password. */
export function passwordsRoutes(mount: Mount, passwords: Passwords): void {
  mount(setPassword, async ({ body }, caller) => toWire(await passwords.set(fromWire(body), caller)))

  mount(addPassword, async ({ body }, caller) => toWire(await passwords.add(fromWire(body), caller)))

  mount(removePassword, async ({ body }, caller) =>
    toWire(await passwords.remove({ userName: body.username, password: body.old_password }, caller)),
  )
}

function fromWire({ username, new_password, old_password }: Body<typeof setPassword>) {
  return { userName: username, password: new_password, oldPassword: old_password }
}

function toWire({ userName, passwords }: PasswordsLeft) {
  return { username: userName, passwords }
}
