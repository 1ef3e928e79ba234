/** `node --conditions=@fairlead/source packages/web/build/look.ts`: serves each component of the console in each of its states, and prints the address. */
import { serveLook } from './serve-look.ts'

const { url } = await serveLook()
process.stdout.write(`${url}\n`)
