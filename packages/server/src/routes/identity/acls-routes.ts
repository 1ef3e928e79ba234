import { engineAcls, isSet, redisAcls } from '@fairlead/api'
import { actorOf } from '../../core/identity/access.ts'
import { refuseOthers } from '../../http/input/refuse-others.ts'
import type { Mount } from '../../http/mount.ts'
import type { Acls } from '../../identity/roles/acls-service.ts'

/** They differ in their paths only. */
const spellings = [redisAcls, engineAcls as unknown as typeof redisAcls]

/** Serves /v1/redis_acls and, in the neutral spelling, /v1/engine_acls. */
export function aclsRoutes(mount: Mount, acls: Acls): void {
  for (const spelling of spellings) {
    mount(spelling.list, async () => [...(await acls.list())])
    mount(spelling.get, ({ params }) => acls.get(params.uid))
    mount(spelling.create, async ({ body, query }, caller) => {
      if (!isSet(query.dry_run)) return acls.create(body, actorOf(caller))
      await acls.foresee(body)
      return { uid: 0, ...body }
    })
    mount(spelling.validate, async ({ body: { acl } }) => {
      await acls.judge(acl)
      return { acl }
    })
    mount(spelling.update, async ({ params: { uid }, query, body: { name, acl, ...settled } }, caller) => {
      refuseOthers(settled, { uid }, 'another rule is created with POST')
      const change = { ...(name !== undefined && { name }), ...(acl !== undefined && { acl }) }
      return isSet(query.dry_run)
        ? acls.foreseeChange(uid, change)
        : acls.update(uid, change, actorOf(caller))
    })
    mount(spelling.remove, async ({ params: { uid }, query }, caller) => {
      await (isSet(query.dry_run) ? acls.foreseeRemoval(uid) : acls.remove(uid, actorOf(caller)))
      return { uid }
    })
  }
}
