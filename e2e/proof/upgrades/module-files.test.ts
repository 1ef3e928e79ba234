import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAgent } from '@fairlead/agent'
import { agentOperations } from '@fairlead/api'
import { agentSocket } from '@fairlead/server'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openModuleFiles } from '../../../packages/server/src/fleet/modules/module-files.ts'
import { connectAgent } from '../../../packages/server/src/nodes/agent-link.ts'
import { ensureModules } from '../../../packages/server/src/nodes/ensure-modules.ts'

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

test('a module file that a node does not have is copied to it, once, and again when it was damaged there', async () => {
  await using stack = new AsyncDisposableStack()
  const home = await mkdtemp(join(tmpdir(), 'fairlead-files-'))
  stack.defer(() => rm(home, { recursive: true, force: true }))
  stack.use(
    await createAgent({
      home,
      socketPath: agentSocket(home),
      nodeUid: 1,
      host: '127.0.0.1',
      memoryLimitBytes: null,
      builds: { list: () => Promise.resolve([]), find: () => Promise.resolve(undefined) },
      fetchPlace: { folder: join(home, 'engines'), env: {} },
      proxyProgram: null,
      logger: pino({ level: 'silent' }),
    }),
  )
  const link = connectAgent(agentOperations, agentSocket(home), { withinMs: 60_000 })
  const sent: string[] = []
  const agent: typeof link = {
    ...link,
    putModule: (input, options) => {
      sent.push(input.params.sha256)
      return link.putModule(input, options)
    },
  }
  const files = await openModuleFiles(home)
  const contents = [randomBytes(20_000_000), randomBytes(10)]
  const hashes = contents.map(hashOf)
  for (const [n, bytes] of contents.entries()) {
    await using draft = files.draft()
    await writeFile(draft.modulePath, bytes)
    await files.place(draft.modulePath, hashes[n] ?? '')
  }

  await ensureModules(agent, files, [...hashes, ...hashes])
  await ensureModules(agent, files, hashes)
  expect(sent).toEqual(hashes)
  expect((await link.reportNode({})).modules).toEqual(hashes.toSorted())

  const [first = '', second = ''] = hashes
  const onNode = join(home, 'modules-of-node', `${first}.so`)
  await writeFile(onNode, 'damaged')
  await ensureModules(agent, files, hashes)
  expect([sent.slice(2), hashOf(await readFile(onNode))]).toEqual([[first], first])

  // The catalogue's own file is damaged: the node refuses it.
  await writeFile(join(home, 'modules', `${second}.so`), 'damaged')
  await link.removeModule({ params: { sha256: second } })
  await expect(ensureModules(agent, files, hashes)).rejects.toThrow(`not ${second}`)
  await files.remove(second)
  await expect(ensureModules(agent, files, hashes)).rejects.toThrow(/ENOENT/)
  expect((await link.reportNode({})).modules).toEqual([first])
})
