import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { printScript } from '../../../../src/commands/completion/shell-scripts.ts'

const folder = mkdtempSync(join(tmpdir(), 'fairlead-complete-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Names that a shell would run, or take for several words. */
const names = [
  '$(touch evil)',
  '`touch evil`',
  ';touch evil',
  "a'b",
  'a"b',
  'a b',
  '#c',
  '~',
  '*',
  'a\\b',
  'ok',
]

test('bash takes a completed name for one word, and runs nothing of it', () => {
  writeFileSync(join(folder, 'names'), names.map((name) => `${name}\tabout\n`).join(''))
  // What is completed is read by the shell as if it was typed.
  const session = `
${printScript('bash')}
fairlead() { cat names; }
COMP_WORDS=(fairlead databases show '') COMP_CWORD=3
_fairlead fairlead
eval "typed=(\${COMPREPLY[*]})"
printf '%s\\n' "\${typed[@]}"`
  const { stdout, stderr } = spawnSync('bash', ['-c', session], { cwd: folder, encoding: 'utf8' })
  expect([stdout.trimEnd().split('\n'), stderr]).toEqual([names, ''])
  expect(existsSync(join(folder, 'evil'))).toBe(false)
})
