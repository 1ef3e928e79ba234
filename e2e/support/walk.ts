import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { adminPassword, type Fairlead } from '../../proof/start-fairlead.ts'

const root = join(import.meta.dirname, '../..')

/** The result of a program: its exit code and output. */
export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program in the root of the repository to its end. */
export async function run(command: string, args: readonly string[]): Promise<Ran> {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const code = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await code, stdout, stderr }
}

/** A page of the documentation. */
export const readPage = (page: string) => readFileSync(join(root, page), 'utf8')

/** Every page of docs/ with this link needs the variables of the first block of that page. */
const SIGN_IN = 'start/api.md#sign-in'

/**
 * The commands that a page prints, by block. The first block signs in where the page links to the page that
 * does.
 */
export function printedBlocks(page: string, language = 'sh'): readonly string[] {
  const text = readPage(page)
  const found = [...text.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))]
  const blocks = found.map(([, block = '']) => block)
  if (!page.startsWith('docs/') || !text.includes(SIGN_IN)) return blocks
  const [signIn = ''] = printedBlocks('docs/start/api.md')
  const [first = '', ...others] = blocks
  return [signIn + first, ...others]
}

/** The same for this Fairlead: its address, the admin's password, files in its home. */
export function blocksOf({ url, home }: Fairlead, page: string, language = 'sh'): readonly string[] {
  const program = `${process.execPath} --conditions=@fairlead/source packages/cli/src/main.ts`
  return printedBlocks(page, language).map((block) =>
    block
      .replace('http://127.0.0.1:8080', url)
      .replace('"PASSWORD"', `"${adminPassword}"`)
      .replaceAll('npm run -s fairlead --', program)
      .replaceAll('events.txt', join(home, 'events.txt'))
      .replaceAll('@tally-', `@${home}/tally-`),
  )
}

/**
 * Carries out these blocks one after the other, in one shell that ends at the first error. Answers what each
 * has printed on stdout. Throws with its stderr when it ends with an error.
 */
export async function walk({ home }: Fairlead, blocks: readonly string[]): Promise<readonly string[]> {
  const script = [`export FAIRLEAD_HOME=${home}`, blocks.join(`\necho ${END}\n`)].join('\n')
  const { code, stdout, stderr } = await run('bash', ['-euo', 'pipefail', '-c', script])
  if (code !== 0) throw new Error(`the walk ended with code ${code}: ${stderr}`)
  return stdout.split(`${END}\n`)
}

const END = '---- end of a block ----'

/** The blocks as people paste them into a shell, which goes on after an error. */
export function paste(blocks: readonly string[]): Promise<Ran> {
  const shell = `bash --norc -i <<'PASTED'\n${blocks.join('')}\nPASTED`
  // Processes that it leaves behind keep the pipes open: a walk that hangs is ended together with them.
  return run('setsid', ['-w', 'timeout', '-s', 'KILL', '60', 'bash', '-c', shell])
}
