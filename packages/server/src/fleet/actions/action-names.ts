import type { Action as ActionAnswer } from '@fairlead/api'
import type { Action } from '../../core/state/action.ts'

/** Names of actions in the wider API. */
export const actionNames: { readonly [Kind in Action['kind']]: ActionAnswer['name'] } = {
  create: 'SMCreateBDB',
  upgrade: 'SMUpgradeBDB',
  delete: 'SMDeleteBDB',
}
