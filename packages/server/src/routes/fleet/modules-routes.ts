import {
  deleteModule,
  deleteModuleV2,
  getModule,
  listModuleCapabilities,
  listModules,
  moduleCapabilities,
  operatorOperations,
  type Pieces,
  uploadModule,
  uploadModuleV2,
} from '@fairlead/api'
import { type Actor, actorOf } from '../../core/identity/access.ts'
import { operator } from '../../core/identity/audit-record.ts'
import type { Modules } from '../../fleet/modules/modules-service.ts'
import type { Mount } from '../../http/mount.ts'
import { toWire } from './module-wire.ts'

/** Serves the catalogue of modules to signed-in callers. */
export function modulesRoutes(mount: Mount, modules: Modules): void {
  mount(listModules, async () => (await modules.list()).map(toWire))

  mount(getModule, async ({ params }) => toWire(await modules.get(params.uid)))

  for (const operation of [uploadModule, uploadModuleV2]) {
    mount(operation, ({ file }, caller) => upload(modules, file, actorOf(caller)))
  }

  for (const operation of [deleteModule, deleteModuleV2]) {
    mount(operation, async ({ params }, caller) => ({
      action_uid: (await modules.remove(params.uid, actorOf(caller))).uid,
    }))
  }

  mount(listModuleCapabilities, async () => ({ all_capabilities: [...moduleCapabilities] }))
}

/** The same for the operator, through the socket in FAIRLEAD_HOME. */
export function operatorModulesRoutes(mount: Mount, modules: Modules): void {
  mount(operatorOperations.listModules, async () => (await modules.list()).map(toWire))

  mount(operatorOperations.uploadModule, ({ file }) => upload(modules, file, operator))

  mount(operatorOperations.deleteModule, async ({ params }) => ({
    action_uid: (await modules.remove(params.uid, operator)).uid,
  }))
}

async function upload(modules: Modules, file: Pieces, by: Actor) {
  const { module, action } = await modules.upload(file, by)
  return { ...toWire(module), action_uid: action.uid }
}
