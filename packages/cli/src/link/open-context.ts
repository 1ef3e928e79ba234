import type { Form } from '../output/forms.ts'
import type { AnswerOptions } from '../output/print-answer.ts'
import type { Terminal, TerminalFlags } from '../output/terminal.ts'
import { findTarget, type Target, type TargetFlags } from '../profiles/find-target.ts'
import { openProfileFiles, type ProfileFiles } from '../profiles/profile-files.ts'
import { type Link, openLink } from './open-link.ts'

/** The common options of commands that speak to a server. */
export interface CommonOptions extends TargetFlags, TerminalFlags {
  readonly output?: Form
  readonly json?: boolean
  readonly columns?: string
  readonly headers?: boolean
  readonly showSecrets?: boolean
  readonly verbose?: boolean
  /** Seconds. */
  readonly timeout?: number
}

/** The surroundings of a command. Everything is opened on demand. */
export interface Context {
  readonly terminal: Terminal
  readonly files: ProfileFiles
  /** `otherwise`: the profile if none is named or current. */
  readonly target: (otherwise?: string) => Target
  readonly answer: AnswerOptions
  readonly isVerbose: boolean
  readonly withinMs: number
  /** Throws CommandFault. */
  link(): Promise<Link>
}

/** Default timeout: a trial start of an engine on a busy machine takes most of it. */
const WITHIN_SECONDS = 60

/** Creates the context of a command. `form` was read before, because errors need it, too. */
export function openContext(terminal: Terminal, options: CommonOptions, form: Form): Context {
  const { env } = terminal
  const files = openProfileFiles(env)
  const withinMs = (options.timeout ?? WITHIN_SECONDS) * 1_000
  const target = (otherwise?: string) => findTarget(files, env, options, otherwise)
  let opened: Promise<Link> | undefined
  return {
    terminal,
    files,
    target,
    withinMs,
    answer: { form, columns: options.columns, headers: options.headers, showSecrets: options.showSecrets },
    isVerbose: options.verbose === true,
    link: () => (opened ??= openLink(target(), { files, env, withinMs })),
  }
}
