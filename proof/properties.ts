import fc from 'fast-check'
import { campaign } from './campaign.ts'

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: campaign().seed })

/** fast-check, whose properties draw from the seed of the run and not from the clock. */
export { fc }
