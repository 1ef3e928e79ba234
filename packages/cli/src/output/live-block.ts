import { cut, widthOf } from './draw-table.ts'
import type { Terminal } from './terminal.ts'

/** Redraws some lines at the end of the terminal, below lines that stay. */
export interface LiveBlock extends Disposable {
  /** Adds a line above the block that stays. */
  log(line: string): void
  /** Replaces the block. */
  show(lines: readonly Line[]): void
}

/** A line, and its painter after cutting. */
export interface Line {
  readonly text: string
  readonly paint?: ((text: string) => string) | undefined
}

const SHOW_CURSOR = '\u001b[?25h'
const HIDE_CURSOR = '\u001b[?25l'
/** Minimum time between redraws. */
const EVERY_MS = 100
/** Rows that are left for earlier output. */
const ROWS_LEFT = 4

/**
 * Draws on stderr without an alternate screen, so that everything stays readable above. Each change is one
 * write, which terminals can show as a whole. Disposing removes the block.
 */
export function openLiveBlock(terminal: Pick<Terminal, 'columns' | 'rows' | 'sayPainted'>): LiveBlock {
  let logged: string[] = []
  let wanted: readonly Line[] = []
  let drawn: readonly string[] = []
  let timer: NodeJS.Timeout | undefined
  const draw = () => {
    timer = undefined
    const columns = terminal.columns()
    const lines = wanted.slice(0, Math.max(1, terminal.rows() - ROWS_LEFT))
    const fresh = lines.map(({ text, paint }) => ({ text: cut(text, columns - 1), paint }))
    // Lines drawn on a wider terminal take more rows now.
    const above = drawn.reduce((rows, text) => rows + Math.max(1, Math.ceil(widthOf(text) / columns)), 0)
    const block = fresh.map(({ text, paint }) => `${paint === undefined ? text : paint(text)}\n`).join('')
    const up = above === 0 ? '' : `\u001b[${above}A`
    terminal.sayPainted(
      `\u001b[?2026h\r${up}\u001b[J${logged.map((line) => `${line}\n`).join('')}${block}\u001b[?2026l`,
    )
    drawn = fresh.map(({ text }) => text)
    logged = []
  }
  const soon = () => {
    timer ??= setTimeout(draw, EVERY_MS)
  }
  const heard = listen({
    resize: soon,
    // The shell owns the terminal and its cursor now.
    stop: () => terminal.sayPainted(SHOW_CURSOR),
    // The shell has written below the block, which stays there.
    go: () => {
      drawn = []
      terminal.sayPainted(HIDE_CURSOR)
      soon()
    },
  })
  terminal.sayPainted(HIDE_CURSOR)
  return {
    log: (line) => {
      logged.push(line)
      soon()
    },
    show: (lines) => {
      const isSame = lines.length === wanted.length && lines.every(({ text }, n) => text === wanted[n]?.text)
      wanted = lines
      if (!isSame) soon()
    },
    [Symbol.dispose]: () => {
      clearTimeout(timer)
      heard[Symbol.dispose]()
      wanted = []
      draw()
      terminal.sayPainted(SHOW_CURSOR)
    },
  }
}

/** Listens for a resize, and for a stop (Ctrl-Z) and its end. */
function listen(on: {
  readonly resize: () => void
  readonly stop: () => void
  readonly go: () => void
}): Disposable {
  const stop = () => {
    on.stop()
    process.kill(process.pid, 'SIGSTOP')
  }
  const signals =
    process.platform === 'win32'
      ? []
      : ([
          ['SIGTSTP', stop],
          ['SIGCONT', on.go],
        ] as const)
  process.stdout.on('resize', on.resize)
  for (const [signal, hear] of signals) process.on(signal, hear)
  return {
    [Symbol.dispose]: () => {
      process.stdout.off('resize', on.resize)
      for (const [signal, hear] of signals) process.off(signal, hear)
    },
  }
}
