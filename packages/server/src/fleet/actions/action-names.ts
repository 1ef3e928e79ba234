import type { Action as ActionAnswer } from '@fairlead/api'
import type { Action } from '../../core/state/action.ts'

/** What the wider API calls each kind of action of a database. */
export const actionNames: { readonly [Kind in Action['kind']]: ActionAnswer['name'] } = {
  create: 'SMCreateBDB',
  upgrade: 'SMUpgradeBDB',
  delete: 'SMDeleteBDB',
}
