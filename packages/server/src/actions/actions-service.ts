import { Refusal } from '@fairlead/api'
import type { Action, Certificate } from '../core/action.ts'
import type { Store } from '../store/open-store.ts'
import { actionsStore } from './actions-store.ts'
import { handoversStore } from './handovers-store.ts'

export interface Actions {
  /** Throws Refusal action_not_exist. */
  get(uid: string): Promise<{ readonly action: Action; readonly certificates: readonly Certificate[] }>
}

export function createActions({ store }: { readonly store: Store }): Actions {
  const actions = actionsStore(store.db)
  const handovers = handoversStore(store.db)
  return {
    async get(uid) {
      const action = await actions.get(uid)
      if (action === undefined) throw new Refusal('action_not_exist', `action ${uid} does not exist`)
      return { action, certificates: await handovers.certificates(uid) }
    },
  }
}
