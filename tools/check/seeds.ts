import { rule } from './rule.ts'
import { everything, read } from './tree.ts'

const tests = everything.filter((file) => /\.test\.ts$|(^|\/)(test|e2e|proof)\//.test(file))
/** What makes a random choice that no seed repeats. Names, keys and passwords are no choices. */
const chance = /Math\.random\(|\brandomInt\(|Date\.now\(\) %|from 'fast-check'/

/** Whether the suite finds something is no matter of luck. */
export const seeds = rule(
  'random choices of tests come from the seed of the run: proof/campaign.ts, proof/properties.ts',
  () => tests.filter((file) => file !== 'proof/properties.ts' && chance.test(read(file))),
)
