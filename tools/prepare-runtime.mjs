import { existsSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { installPackages } from './install-packages.mjs'
import { runQuietly } from './run-program.mjs'
import { SetUpError } from './set-up-error.mjs'

/**
 * The Node that everything else runs under: this one if it is new enough, else the pinned one, installed into
 * tools/node. Returns its program and an environment in which it comes first on PATH.
 */
export async function prepareRuntime(root) {
  const floor = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).engines.node.replace('>=', '')
  const node = isAtLeast(process.versions.node, floor) ? process.execPath : await pinnedNode(root, floor)
  return { node, env: { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ''}` } }
}

async function pinnedNode(root, floor) {
  const folder = join(root, 'tools/node')
  const node = join(folder, 'node_modules/.bin/node')
  const tooOld = `this is Node ${process.versions.node} on ${process.platform} ${process.arch}; Fairlead needs Node ${floor} or newer`
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch))
    throw new SetUpError(`${tooOld}. Install it and try again.`)

  const isNew = !existsSync(node)
  await installPackages({
    root,
    folder,
    what: `Node for Fairlead (this one is ${process.versions.node})`,
    proof: 'node',
    env: process.env,
  })
  if (isNew && !(await runs(node)))
    throw new SetUpError(`${tooOld}, and the pinned one does not run here. Install it and try again.`)
  return node
}

async function runs(node) {
  try {
    return (await runQuietly(node, ['--version'], { env: process.env })).code === 0
  } catch (error) {
    // Not there, or for another C library: the caller says what to do.
    if (error instanceof SetUpError || error.code) return false
    throw error
  }
}

function isAtLeast(version, floor) {
  const [major, minor] = version.split('.').map(Number)
  const [floorMajor, floorMinor] = floor.split('.').map(Number)
  return major > floorMajor || (major === floorMajor && minor >= floorMinor)
}
