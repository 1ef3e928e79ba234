import { setTimeout as pause } from 'node:timers/promises'
import type { Action } from '@fairlead/api'
import { describeHandover } from '../packages/cli/src/commands/upgrades/describe-handover.ts'
import type { Fairlead } from '../proof/start-fairlead.ts'

/** A step takes longer, except for the milliseconds of a handover, which its certificate measures. */
const LOOK_EVERY_MS = 250
/** Steps that move processes and roles; the others keep records. */
const TOLD: readonly string[] = ['add-shard', 'restart-shard', 'hand-over', 'retire-shard']

/** Tells the steps of the next upgrade of a database as they begin, and each handover, until disposed of. */
export function tellUpgrade(
  { api }: Pick<Fairlead, 'api'>,
  uid: number,
  say: (line: string) => void,
): AsyncDisposable {
  let isOver = false
  let upgrade: string | undefined
  const told = new Set<string>()
  const look = async () => {
    upgrade ??= (await api.getDatabase({ params: { uid } })).action_uid
    if (upgrade === undefined) return
    for (const { at, line } of eventsOf(await api.getAction({ params: { uid: upgrade } }))) {
      if (!told.has(`${at} ${line}`)) say(line)
      told.add(`${at} ${line}`)
    }
  }
  const watch = async () => {
    while (!isOver) {
      await look().catch(() => undefined) // the upgrade itself reports what is wrong
      await pause(LOOK_EVERY_MS)
    }
  }
  const watching = watch()
  return {
    async [Symbol.asyncDispose]() {
      isOver = true
      await watching
    },
  }
}

/** Returns the begun steps and the handovers of an action as lines, in the order of time. */
export function eventsOf({
  lanes = [],
  certificates,
}: Pick<Action, 'lanes' | 'certificates'>): readonly { readonly at: string; readonly line: string }[] {
  const steps = lanes
    .flatMap((lane) => lane.steps)
    .filter(({ op_name, shard }) => TOLD.includes(op_name) && shard !== null)
    .flatMap(({ label, shard, began: at }) => (at === null ? [] : [{ at, line: `${label}: shard ${shard}` }]))
  const handovers = certificates.map((certificate) => ({
    at: certificate.at,
    // Full syncs are counted only when every follower is linked again.
    line: describeHandover({ ...certificate, full_syncs: null }),
  }))
  return [...steps, ...handovers].toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
}
