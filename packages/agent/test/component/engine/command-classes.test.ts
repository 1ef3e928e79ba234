import { expect, test } from 'vitest'
import { askClasses, countByClass } from '../../../src/engine/command-classes.ts'
import { connectAs, makeHome, makeSpec } from '../../agent-home.ts'
import { engines } from '../../engines.ts'

test.each(engines)(
  '$flavour $version tells which commands read and which write, and how often they ran',
  async (engine) => {
    await using home = await makeHome()
    await using _ = await home.start()
    const spec = await makeSpec({}, engine)
    await home.client.putShard({ params: { id: 's1' }, body: spec })
    await home.becomes('s1', { state: 'running' })
    using admin = await connectAs('fairlead', spec)
    using client = await connectAs('default', spec)
    const classes = await askClasses(admin)
    const count = async () => classes && countByClass(await admin.info('commandstats'), classes)
    const before = await count()
    for (const [command = '', ...words] of [
      ['SET', 'a', '1'],
      ['XADD', 's', '*', 'f', 'v'],
      ['XGROUP', 'CREATE', 's', 'g', '0'],
      ['EVAL', "redis.call('INCR', KEYS[1])", '1', 'a'],
      ['GET', 'a'],
      ['MGET', 'a', 'b'],
      ['XINFO', 'STREAM', 's'],
      ['PING'],
      ['ECHO', 'hello'],
    ])
      await client.call(command, ...words)
    const after = await count()
    expect([
      (after?.writes ?? 0) - (before?.writes ?? 0),
      (after?.reads ?? 0) - (before?.reads ?? 0),
    ]).toEqual([4, 3])
  },
)
