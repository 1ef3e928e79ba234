import type { EngineWall } from '../engine/engine-wall.ts'
import { isMovedIn, serverFolder } from './server-folder.ts'

/**
 * If the server has a separate user and walls do not work any more, the agent starts nothing as root for the
 * server: neither an engine with a module, nor a plain engine, which writes files where its administrator
 * chooses. What ran as root before may be restarted. A restarted server then runs as root, too, and moves its
 * files back.
 */
export function withoutRootOf(wall: EngineWall, home: string): EngineWall {
  if (wall.missing === null || process.geteuid?.() !== 0) return wall
  return {
    ...wall,
    async command(place, start) {
      if (!start.ranOutside && (await isMovedIn(serverFolder(home))))
        throw new Error(
          'without a wall it would be root, and the server, which asks for it, is not: start the server again',
        )
      return await wall.command(place, start)
    },
  }
}
