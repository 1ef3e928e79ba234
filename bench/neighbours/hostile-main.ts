/** The hostile clients of one case, in a process with the lowest priority: so the neighbour does not wait because they need a processor. */
import { constants, setPriority } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { hostileCases } from './hostile-cases.ts'
import type { Door } from './hostile-client.ts'

setPriority(constants.priority.PRIORITY_LOW)
const { name, door } = JSON.parse(process.argv[2] ?? '{}') as { readonly name: string; readonly door: Door }
const hostile = hostileCases[name]
if (hostile === undefined) throw new Error(`there is no case ${name}`)
let rounds = 0
for (let n = 0; n < hostile.connections; n += 1) void goOn()
process.on('message', () => process.send?.({ rounds }))
// The parent process has received all results, or has ended.
process.once('disconnect', () => process.exit())

async function goOn(): Promise<never> {
  for (;;) {
    // The endpoint has closed it: it connects again.
    await hostile?.act(door).catch(() => pause(5))
    rounds += 1
  }
}
