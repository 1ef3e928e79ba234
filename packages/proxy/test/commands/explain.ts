import type { Documented } from './differences.ts'
import { families } from './families.ts'
import type { Finding } from './run-matrix.ts'

const refusedNames = new Set(
  families.flatMap(({ name, rows }) => (name === 'Refused' ? rows.map((row) => row.name) : [])),
)

/**
 * Findings without an explanation, and explanations without a finding. A run is explained as a whole, by the
 * first of its findings: the later ones follow from it.
 */
export function explain(
  findings: readonly Finding[],
  documented: readonly Documented[],
): { readonly unexplained: readonly Finding[]; readonly idle: readonly Documented[] } {
  const used = new Set<Documented>()
  const unexplained: Finding[] = []
  for (const ofRun of Map.groupBy(findings, ({ run }) => run).values()) {
    const [first] = ofRun
    if (first === undefined) continue
    const fits = documented.find((each) => isExplainedBy(first, each))
    if (fits === undefined) unexplained.push(...ofRun)
    else used.add(fits)
  }
  return { unexplained, idle: documented.filter((each) => !used.has(each)) }
}

function isExplainedBy({ run, got }: Finding, { commands, ways, got: known }: Documented): boolean {
  const { row, way } = run
  const isNamed =
    commands.includes(row.name) ||
    commands.includes(row.name.split(' ')[0] ?? '') ||
    (commands.includes('everything that is refused') && refusedNames.has(row.name))
  return isNamed && ways.includes(way) && known.test(got)
}
