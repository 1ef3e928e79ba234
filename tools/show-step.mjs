const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/**
 * Shows on stderr that `work` is under way: one changing line on a terminal, one plain line elsewhere.
 * Returns what `work` returns. It has no dependencies, because it runs before they are installed.
 */
export async function showStep(label, work) {
  if (!process.stderr.isTTY || process.env.CI || process.env.TERM === 'dumb') {
    console.error(`fairlead: ${label} …`)
    return await work()
  }
  const started = Date.now()
  const seconds = () => Math.round((Date.now() - started) / 1000)
  let n = 0
  const draw = (mark, tail = '') => process.stderr.write(`\r\x1b[2K${mark} ${label} ${seconds()} s${tail}`)
  const timer = setInterval(() => draw(frames[n++ % frames.length]), 100)
  draw(frames[0])
  try {
    const result = await work()
    draw('✔', '\n')
    return result
  } catch (error) {
    draw('✖', '\n')
    throw error
  } finally {
    clearInterval(timer)
  }
}
