import type { Action, ActionEvent, ActionLane } from '@fairlead/api'
import { nextCommand, stepWords } from '@fairlead/api/lean'
import type { Context } from '../../link/open-context.ts'
import { widthOf } from '../../output/draw-table.ts'
import { type Line, openLiveBlock } from '../../output/live-block.ts'
import { showBytes, showSeconds } from '../../output/show-quantity.ts'
import type { Style, Terminal } from '../../output/terminal.ts'
import { inOneLine } from '../../output/without-orders.ts'
import { labelOf, wordOf } from '../describe-action.ts'
import { describeHandover } from './describe-handover.ts'
import type { Progress } from './tell-progress.ts'

/** Parameters of `drawAction` besides the action. */
export interface View {
  readonly terminal: Pick<Terminal, 'glyphs' | 'paint' | 'columns' | 'rows'>
  readonly name: string
  readonly nowMs: number
  /** Unix time in ms since which the server has not answered; undefined while it answers. */
  readonly awaySinceMs: number | undefined
}

/** Draws a watched action: its phase, groups and wait. Of many groups, only those that need attention. */
export function drawAction(action: Action, view: View): readonly Line[] {
  const { terminal, name, nowMs, awaySinceMs } = view
  const { glyphs } = terminal
  const { from, goal, began_time, creation_time } = action
  const way = [from, goal].map((runs) => (runs === null ? '' : `${runs.engine} ${runs.engine_version}`))
  const since = clock((nowMs - Date.parse(began_time ?? creation_time)) / 1_000)
  const head = `${name}  ${way.filter((each) => each !== '').join(` ${glyphs.arrow} `)}   ${labelOf(action)}   ${since}   Ctrl-C leaves it running`
  const away =
    awaySinceMs === undefined
      ? []
      : [
          line(
            view,
            'warn',
            `  server away for ${showSeconds((nowMs - awaySinceMs) / 1_000)}, trying; databases are not affected`,
          ),
        ]
  return [line(view, 'bold', head), ...drawLanes(action, view), ...drawWait(action, view), ...away]
}

function drawLanes({ lanes = [] }: Action, view: View): readonly Line[] {
  const room = Math.max(1, view.terminal.rows() - 8)
  if (lanes.length <= room) return lanes.map((lane) => drawLane(lane, view))
  const { glyphs } = view.terminal
  const count = (is: (lane: ActionLane) => boolean) => lanes.filter(is).length
  const sum = [
    `${glyphs.done} ${count(({ handed_over }) => handed_over)} handed over`,
    `${glyphs.work} ${count(({ handed_over, state }) => !handed_over && state === 'running')} at work`,
    `${glyphs.idle} ${count(({ handed_over, state }) => !handed_over && state === 'waiting')} wait`,
    `${glyphs.stuck} ${count(({ state }) => state === 'stuck')} stuck`,
  ]
  const order = ['stuck', 'running', 'waiting', 'done']
  const worst = lanes.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))
  return [
    line(view, undefined, `  ${sum.join('   ')}`),
    ...worst.slice(0, room - 1).map((lane) => drawLane(lane, view)),
  ]
}

function drawLane(lane: ActionLane, view: View): Line {
  const { glyphs } = view.terminal
  const { state, waiting, sync, group, handed_over } = lane
  const step =
    lane.steps.find((each) => each.state === 'running') ?? lane.steps.find((each) => each.state === 'planned')
  const label = step === undefined ? '' : `${wordOf(stepWords, step.op_name)} ${step.shard ?? ''}`.trimEnd()
  const signs = { done: glyphs.done, stuck: glyphs.stuck, running: glyphs.work, waiting: glyphs.idle }
  const what =
    sync !== null ? syncOf(sync) : waiting !== null ? waiting.why : state === 'done' ? 'done' : label
  const style: Style | undefined = state === 'stuck' ? 'bad' : state === 'done' ? 'good' : undefined
  return line(
    view,
    style,
    `  group ${group}  ${signs[state]} ${what}${handed_over && state !== 'done' ? '   handed over' : ''}`,
  )
}

function syncOf({ shard, done, total, bytes_per_s: speed }: NonNullable<ActionLane['sync']>): string {
  const far = total === null ? showBytes(done) : `${showBytes(done)} of ${showBytes(total)}`
  const left =
    total === null || speed === null || speed === 0 ? '' : `   ${showSeconds((total - done) / speed)} left`
  return `full sync to ${shard}   ${far}${speed === null ? '' : `   ${showBytes(speed)}/s`}${left}`
}

function drawWait(action: Action, view: View): readonly Line[] {
  const { waiting, window_ends, phase, rollback_eligible } = action
  const { nowMs, name, terminal } = view
  if (phase === 'ready')
    return [
      ...foldAt(
        terminal.columns() - 1,
        `  ${terminal.glyphs.hand} ready; waits for you:   `,
        `fairlead actions resume ${name}`,
      ).map((text) => line(view, 'warn', text)),
    ]
  if (phase === 'window' && rollback_eligible !== undefined) {
    const left =
      window_ends === null
        ? 'until it is finalized'
        : `${clock((Date.parse(window_ends) - nowMs) / 1_000)} left`
    return [line(view, undefined, `  way back: ${rollback_eligible ? 'yes' : 'no'} (${left})`)]
  }
  if (waiting === null) return []
  return phase === 'stuck'
    ? [line(view, 'bad', `  ${waiting.why}`), ...drawNext(action, view)]
    : [line(view, 'dim', `  ${waiting.why}`)]
}

/** The next thing to do, with its reason. */
function drawNext(action: Action, view: View): readonly Line[] {
  const next = nextCommand(action, view.name)
  if (next === null) return []
  return [
    line(view, 'warn', `  ${next.why}:`),
    line(view, 'warn', `  ${view.terminal.glyphs.hand} ${next.command}`),
  ]
}

/** A cut command is useless: on a narrow terminal it gets a separate row. */
function foldAt(columns: number, text: string, command: string): readonly string[] {
  return widthOf(text + command) <= columns ? [text + command] : [text.trimEnd(), `  ${command}`]
}

function line({ terminal }: View, style: Style | undefined, text: string): Line {
  const paint = style && ((plain: string) => terminal.paint(style, plain, 'err'))
  return { text: inOneLine(text), paint }
}

/** "0:06", "1:02:03". */
function clock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  const two = (n: number) => String(n).padStart(2, '0')
  const [hours, minutes] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60]
  return `${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(whole % 60)}`
}

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
