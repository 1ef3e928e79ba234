type Run = (args: readonly string[], env: NodeJS.ProcessEnv) => Promise<number>

const needed = [24, 17] as const

/** Runs this process. Checks Node's version first, because an old Node would crash while loading the rest. */
export async function start(load: () => Promise<Run>): Promise<void> {
  // Before any file is made: only their owner may read files of Fairlead.
  process.umask(0o077)
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
    process.stderr.write(
      `fairlead: needs Node ${needed.join('.')} or newer; this is ${process.versions.node}\n`,
    )
    process.exitCode = 1
    return
  }
  await keepCompiled()
  const run = await load()
  process.exitCode = await run(process.argv.slice(2), process.env)
  // A listening channel to the parent would keep this process alive.
  if (process.connected) process.disconnect()
}

/**
 * Caches compiled code for the next command. Not for root: Node runs the cache, and HOME may belong to
 * another user.
 */
async function keepCompiled(): Promise<void> {
  const { XDG_CACHE_HOME: cache, HOME: home, NODE_COMPILE_CACHE: chosen } = process.env
  const folder = cache ?? (home === undefined ? undefined : `${home}/.cache`)
  if (folder === undefined || chosen !== undefined || process.geteuid?.() === 0) return
  const { enableCompileCache } = await import('node:module')
  enableCompileCache(`${folder}/fairlead/compiled`)
}
