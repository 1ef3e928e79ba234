import type { Body, upgradeDatabase as upgradeOperation } from '@fairlead/api'
import { safeDefaults } from '@fairlead/api/lean'
import type { CommonOptions } from '../../link/open-context.ts'
import type { Yes } from '../../output/ask.ts'
import { CommandFault } from '../../output/command-fault.ts'
import { readSeconds } from '../../output/read-quantity.ts'
import { setFields } from '../create-database.ts'
import type { Wait } from './follow-action.ts'

/** The body of an upgrade request. */
export type UpgradeRequest = Body<typeof upgradeOperation>

/** The options of `databases upgrade`. */
export interface UpgradeOptions extends CommonOptions {
  readonly to?: string
  readonly keepEngineVersion?: boolean
  readonly latestWithModules?: boolean
  readonly restart?: boolean
  readonly module: readonly string[]
  readonly preserveRoles?: boolean
  readonly parallel?: number
  /** Commander: `--no-canary` makes it false. */
  readonly canary: boolean
  readonly supervised?: boolean
  readonly rollbackWindow?: string
  readonly mayDiscardData?: boolean
  readonly forceDiscard?: boolean
  readonly set: readonly string[]
  readonly dryRun?: boolean
  readonly exitCode?: boolean
  readonly yes?: Yes
  /** `--no-wait` makes it false. */
  readonly wait: Wait | false
  /** Seconds. */
  readonly waitTimeout?: number
  readonly keepGoing?: boolean
  /** The command, if it is not `databases upgrade`. */
  readonly command?: string
}

/** Returns the request for the options. Throws CommandFault for a wrong form; the server validates values. */
export function upgradeRequest(options: UpgradeOptions): UpgradeRequest {
  const { to, module: modules, parallel } = options
  return {
    ...(to !== undefined && to !== 'latest' && { engine_version: to }),
    ...(options.keepEngineVersion === true && { keep_engine_version: true }),
    ...(options.latestWithModules === true && { latest_with_modules: true }),
    ...(options.restart === true && { force_restart: true }),
    ...(modules.length > 0 && { modules: modules.map(readModule) }),
    ...(options.preserveRoles === true && { preserve_roles: true }),
    ...(parallel !== undefined && { parallel_shards_upgrade: parallel }),
    ...(!options.canary && { canary: false }),
    ...((options.supervised === true || options.wait === 'ready') && { supervised: true }),
    ...windowIn(options),
    ...(options.mayDiscardData === true && { may_discard_data: true }),
    ...(options.forceDiscard === true && { force_discard: true }),
    ...setFields(options.set),
  }
}

/** Returns whether data may be lost: such a request needs the database's name. */
export function discardsData(request: UpgradeRequest): boolean {
  return request.may_discard_data === true || request.force_discard === true
}

/** Returns the requested window, or the default. None if data may be lost: there is no way back then. */
function windowIn({
  rollbackWindow,
  wait,
  dryRun,
  ...options
}: UpgradeOptions): Pick<UpgradeRequest, 'rollback_window'> {
  if (rollbackWindow !== undefined) return { rollback_window: readWindow(rollbackWindow) }
  if (options.mayDiscardData === true || options.forceDiscard === true) return {}
  if (wait === 'finalized' && dryRun !== true)
    throw new CommandFault(
      'usage',
      '--wait finalized needs --rollback-window: the default window, until-finalized, ends only when a person finalizes',
    )
  return { rollback_window: safeDefaults.rollback_window }
}

function readWindow(text: string): number | 'until_finalized' {
  if (/^until[-_]finalized$/.test(text)) return 'until_finalized'
  if (/^[1-9]\d*$/.test(text))
    throw new CommandFault('usage', `--rollback-window: ${text} has no unit; write it like 30s, 15m or 8h`)
  return Math.round(readSeconds('--rollback-window', text))
}

/** "search": to its newest version for the build; "search=ARGS": with these arguments. */
function readModule(text: string): NonNullable<UpgradeRequest['modules']>[number] {
  const [, name, args] = /^([^=]+?)(?:=(.*))?$/s.exec(text) ?? []
  if (name === undefined)
    throw new CommandFault('usage', `--module: ${text} is no module; write it like NAME or NAME=ARGUMENTS`)
  return { module_name: name, ...(args !== undefined && { new_module_args: args }) }
}
