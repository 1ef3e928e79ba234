import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { runProgram } from '../../../src/builds/run-program.ts'

/** Opens as many files as it may, and then runs a program. */
const WITHOUT_FILES = `
  import { closeSync, openSync } from 'node:fs'
  import { runProgram } from ${JSON.stringify(fileURLToPath(import.meta.resolve('../../../src/builds/run-program.ts')))}
  const run = () => runProgram({ program: 'true', args: [], deadlineMs: 60_000 })
  await run()
  const taken = []
  try { for (;;) taken.push(openSync('/dev/null')) } catch {}
  const why = await run().catch((cause) => cause.code)
  await new Promise(setImmediate)
  for (const file of taken) closeSync(file)
  const { code } = await run()
  process.stdout.write(why + ' ' + code)`

test('a program that cannot be started for lack of files is an error for its caller, and ends no process', async () => {
  const args = ['--conditions=@fairlead/source', '--input-type=module', '-e', WITHOUT_FILES]
  const limited = ['-c', 'ulimit -n 64; exec "$0" "$@"', process.execPath, ...args]
  const { stdout } = await promisify(execFile)('/bin/sh', limited)
  expect(stdout).toBe('EMFILE 0')
})

test('a missing program is reported, and a program that exceeds its deadline is killed', async () => {
  const program = '/nowhere/at-all'
  await expect(runProgram({ program, args: [], deadlineMs: 60_000 })).rejects.toMatchObject({
    code: 'ENOENT',
  })
  const late = await runProgram({ program: 'sleep', args: ['3600'], deadlineMs: 100 })
  expect(late).toMatchObject({ code: null, late: true })
})
