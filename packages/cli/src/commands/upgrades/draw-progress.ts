import type { Action, ActionEvent } from '@fairlead/api'
import type { Context } from '../../link/open-context.ts'
import { openLiveBlock } from '../../output/live-block.ts'
import { inOneLine } from '../../output/without-orders.ts'
import { describeHandover } from './describe-handover.ts'
import { drawAction } from './draw-action.ts'
import type { Progress } from './tell-progress.ts'

/** Draws a watched action. Finished parts stay above, in order. */
export function drawProgress(
  { terminal }: Pick<Context, 'terminal'>,
  name: string,
  awaySinceMs: () => number | undefined,
): Progress {
  const block = openLiveBlock(terminal)
  let now: Action | undefined
  const draw = () => {
    const view = { terminal, name, nowMs: Date.now(), awaySinceMs: awaySinceMs() }
    if (now !== undefined) block.show(drawAction(now, view))
  }
  const ticking = setInterval(draw, 1_000)
  return {
    onEvent: (action, event) => {
      now = action
      const fact = factOf(event)
      if (fact !== undefined)
        block.log(inOneLine(`${terminal.glyphs.done} ${event.time.slice(11, 22)} ${name}: ${fact}`))
      draw()
    },
    [Symbol.dispose]: () => {
      clearInterval(ticking)
      block[Symbol.dispose]()
    },
  }
}

/** A certificate comes again with its full syncs, and is printed once. */
function factOf(event: ActionEvent): string | undefined {
  if (event.type !== 'handover' || event.certificate.full_syncs !== null) return undefined
  return describeHandover(event.certificate)
}
